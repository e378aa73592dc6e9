import {
  firstTokenNames,
  isObjectiveName,
  isSizeName,
  measureNames,
  measures,
  milestoneName,
  type StageKind,
  totalStage,
} from '../base/dimensions.ts';
import type { StageClass, StageSettings } from '../config/stages.ts';
import { matchesPattern } from '../series/matches-pattern.ts';
import { unaccounted } from './anomaly-event.ts';

/** Classes of stages by exact name: standard names, and those of presets and conversions. */
const classes: Readonly<Record<StageClass, readonly string[]>> = {
  queue: ['queue'],
  compute: ['forward', 'inference', 'infer', 'compute'],
  feature: ['features'],
  network: ['ingress', 'egress', 'blocked', 'connect', 'tls', 'sending', 'receiving'],
  downstream: ['downstream', 'first_byte'],
  serialization: ['parse', 'preprocess', 'postprocess', 'tokenize', 'detokenize'],
  prefill: ['prefill', 'queue_prefill', 'first_token', 'ttft', measures.prefillPer1kInputTokens],
  decode: ['decode', measures.timePerOutputToken, measures.interTokenLatency],
  batching: ['batching', 'batch_wait'],
  transfer: ['transfer', 'restore'],
};

const classByName: ReadonlyMap<string, StageClass> = new Map(
  Object.entries(classes).flatMap(([name, stages]) =>
    stages.map((stage) => [stage, name as StageClass] as const),
  ),
);

/** Before the first token lie all parts but those of class `decode`, and some that follow these. */
const firstToken: ReadonlySet<string> = new Set(firstTokenNames);
const afterFirstToken: ReadonlySet<string> = new Set([
  'detokenize',
  'postprocess',
  'egress',
  'receiving',
]);

/** Classes of other names, the first that fits: `SERVICE` and `MODEL` stand before or behind. */
const classByPattern: readonly (readonly [pattern: string, StageClass])[] = [
  ['downstream:*', 'downstream'],
  ['network:*', 'network'],
  ['*queue*', 'queue'],
  ['*prefill*', 'prefill'],
  ['*_transfer', 'transfer'],
  ['*_load', 'transfer'],
];

/** Regular expression of a pattern of names, which have no other special characters than a dot. */
function regexOf(pattern: string): string {
  return `^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`;
}

/**
 * All that is known of stages by their names: the entries of the block `stages` first, then standard names.
 * Of a model within models (`encoder.queue`) the stage counts.
 */
export class StageTable {
  /** What is known without configuration. */
  static readonly standard = new StageTable();
  readonly #settings: readonly (readonly [pattern: string, StageSettings[string]])[];
  /** Regular expressions, in RE2 too: a milestone matches the first, and not the second. */
  readonly milestones: { readonly matching: string; readonly except: string };
  readonly #matching: RegExp;
  readonly #except: RegExp;

  constructor(settings: StageSettings = {}) {
    this.#settings = Object.entries(settings);
    const named = (is: boolean) =>
      this.#settings.filter(([, { milestone }]) => milestone === is).map(([name]) => name);
    const matching = [milestoneName.source, ...named(true).map(regexOf)].join('|');
    const except = named(false).map(regexOf).join('|');
    this.milestones = { matching, except: except === '' ? '^$' : except };
    this.#matching = new RegExp(this.milestones.matching);
    this.#except = new RegExp(this.milestones.except);
  }

  /** Kind of a stage: only parts add up to the total. */
  kindOf(stage: string): StageKind {
    if (isObjectiveName(stage)) return 'objective';
    if (isSizeName(stage)) return 'size';
    if (measureNames.includes(stage)) return 'measure';
    return this.#matching.test(stage) && !this.#except.test(stage) ? 'milestone' : 'part';
  }

  /** Reports whether a stage is the time from the start to a point. */
  isMilestone(stage: string): boolean {
    return this.kindOf(stage) === 'milestone';
  }

  /** Reports whether somebody waits for it: the whole request, a milestone or a measure. Parts explain these. */
  isWaitedFor(stage: string): boolean {
    return stage === totalStage || ['milestone', 'measure'].includes(this.kindOf(stage));
  }

  /** Says which parts lie before a milestone; undefined where nobody said it. */
  partsBefore(milestone: string): ((stage: string) => boolean) | undefined {
    const named = this.#settings.find(
      ([pattern, { parts }]) => parts !== undefined && matchesPattern(pattern, milestone),
    );
    const parts = named?.[1].parts;
    if (parts !== undefined) {
      return (stage) =>
        this.#isPart(stage) && parts.some((pattern) => matchesPattern(pattern, stage));
    }
    if (!firstToken.has(milestone)) return undefined;
    return (stage) =>
      this.#isPart(stage) && !afterFirstToken.has(stage) && this.classOf(stage) !== 'decode';
  }

  #isPart(stage: string): boolean {
    return stage !== totalStage && stage !== unaccounted && this.kindOf(stage) === 'part';
  }

  /** Reports whether two names are of one part of a request: the same, or a part and a measure of its class. */
  isOnePart(a: string, b: string): boolean {
    if (a === b) return true;
    const ofClass = this.classOf(a);
    if (ofClass === undefined || ofClass !== this.classOf(b)) return false;
    const kinds = new Set([this.kindOf(a), this.kindOf(b)]);
    return kinds.has('measure') && kinds.has('part');
  }

  /** Class of a stage; undefined where nobody classed its name. */
  classOf(stage: string): StageClass | undefined {
    for (const [pattern, { class: own }] of this.#settings) {
      if (own !== undefined && matchesPattern(pattern, stage)) return own;
    }
    const known =
      classByName.get(stage) ?? classByName.get(stage.slice(stage.lastIndexOf('.') + 1));
    if (known !== undefined) return known;
    return classByPattern.find(([pattern]) => matchesPattern(pattern, stage))?.[1];
  }
}
