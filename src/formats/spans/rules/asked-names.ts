import type { Source } from '../presets/preset.ts';

/** Attribute with what an error is called, and the name of events with an exception. */
const errorTypeKey = 'error.type';
export const exceptionEvent = 'exception';

/** Their indices, in the names of any rules: each span's status is asked for. */
export const errorType = 0;
export const exception = 0;

const resourcePrefix = 'resource:';
const nameSource = 'span:name';

/** Source that is the name of the span itself. */
export const spanName = 1 << 16;
/** From here on a source is a member of JSON; less this, its index among the members. */
export const firstMember = spanName + 1;

/**
 * Names that rules ask spans for, each once. Rules are compiled to their indices, so a reader may look for
 * these only. A source becomes the index of an attribute, or the complement of that of a resource's attribute.
 */
export class AskedNames {
  /** Attributes of a span, of its resource, and names of its events. */
  readonly keys: string[] = [errorTypeKey];
  readonly resourceKeys: string[] = [];
  readonly events: string[] = [exceptionEvent];
  /** Indices of events of which all times are asked for, not the earliest alone. */
  readonly series = new Set<number>();
  /** Members of JSON objects that attributes have as text. */
  readonly members: { readonly key: number; readonly member: string }[] = [];

  key(attribute: string): number {
    return indexIn(this.keys, attribute);
  }

  event(name: string): number {
    return indexIn(this.events, name);
  }

  eventSeries(name: string): number {
    const index = this.event(name);
    this.series.add(index);
    return index;
  }

  sources(sources: readonly Source[]): Int32Array {
    return Int32Array.from(sources, (source) => this.#source(source));
  }

  #source(source: Source): number {
    if (source === nameSource) return spanName;
    if (source.startsWith(resourcePrefix)) {
      return ~indexIn(this.resourceKeys, source.slice(resourcePrefix.length));
    }
    const hash = source.indexOf('#');
    if (hash < 0) return this.key(source);
    const of = { key: this.key(source.slice(0, hash)), member: source.slice(hash + 1) };
    return firstMember + this.members.push(of) - 1;
  }
}

function indexIn(list: string[], name: string): number {
  const index = list.indexOf(name);
  return index >= 0 ? index : list.push(name) - 1;
}
