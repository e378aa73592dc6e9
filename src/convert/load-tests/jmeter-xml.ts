import { SaxesParser, type SaxesTagPlain } from 'saxes';
import type { DraftSink } from '../../formats/format-reader.ts';
import { type ConvertOptions, eachFile, type FileFormat, type InputFile } from '../file-format.ts';
import { FieldReader } from './field-reader.ts';
import { sampleDraft } from './jmeter-sample.ts';
import { originOf } from './json-lines.ts';

const names = {
  ...{ ts: 'ts', total: 't', label: 'lb', code: 'rc', message: 'rm', success: 's' },
  ...{ received: 'by', sent: 'sby', latency: 'lt', connect: 'ct' },
  samples: 'sc',
};
const sampleTags = new Set(['httpSample', 'sample']);
const maxDepth = 64;
/** Most characters between two tags, a tag itself included: the parser may hold them all. */
const maxGap = 16 * 1024 * 1024;
const pieceBytes = 64 * 1024;
/** Responses that JMeter saved may have any byte, which it writes as `&#x1;`. They are read over. */
const controlCharacter = /^(?:malformed character entity|disallowed character)\.$/;

const escapes: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '"': '&quot;', '\n': '&#10;', '\r': '&#13;', '\t': '&#9;' },
};

/** A document of the one sample. */
function documentOf({ name, attributes }: SaxesTagPlain): string {
  const pairs = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${value.replace(/[&<"\n\r\t]/g, (each) => escapes[each] ?? '')}"`,
  );
  return `<testResults version="1.2"><${name}${pairs.join('')}/></testResults>\n`;
}

/** Reads a document piece by piece, up to the first thing that is wrong with it. */
class SampleReader {
  readonly #options: ConvertOptions;
  readonly #sink: DraftSink;
  readonly #parser = new SaxesParser<{ xmlns: false; position: true }>({
    xmlns: false,
    position: true,
  });
  #depth = 0;
  #sampleDepth = 0;
  #gap = 0;
  #isRefused = false;

  constructor(options: ConvertOptions, sink: DraftSink) {
    this.#options = options;
    this.#sink = sink;
    this.#parser.on('doctype', () => this.#refuse('must have no DOCTYPE and no entities: it has'));
    this.#parser.on('error', ({ message }) => {
      const problem = message.replace(/^\d+:\d+: /, '');
      if (!controlCharacter.test(problem)) this.#refuse(`must be XML: ${problem}`);
    });
    this.#parser.on('opentag', (tag) => this.#open(tag));
    this.#parser.on('closetag', ({ name }) => {
      this.#gap = 0;
      this.#depth--;
      if (sampleTags.has(name)) this.#sampleDepth--;
    });
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  write(piece: string): void {
    this.#gap += piece.length;
    this.#parser.write(piece);
    if (this.#gap > maxGap) this.#refuse('must have a tag at least every 16 MiB: it has none');
  }

  close(): void {
    this.#parser.close();
  }

  #refuse(rule: string): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    const detail = `Line ${this.#parser.line}: the file ${rule}, so the rest of it is left out`;
    this.#sink.reject('invalid_line', detail, originOf(''));
  }

  #open(tag: SaxesTagPlain): void {
    if (this.#isRefused) return;
    this.#gap = 0;
    this.#depth++;
    if (this.#depth > maxDepth) this.#refuse(`must nest at most ${maxDepth} elements: it has more`);
    if (!sampleTags.has(tag.name)) return;
    this.#sampleDepth++;
    if (this.#sampleDepth > 1) this.#sink.skip(1);
    else this.#convert(tag);
  }

  #convert(tag: SaxesTagPlain): void {
    const where = `Line ${this.#parser.line}`;
    const fields = new FieldReader(where, (name) => tag.attributes[name]);
    const draft = sampleDraft(fields, names, this.#options);
    const origin = originOf(() => documentOf(tag));
    const { problem } = fields;
    if (draft !== undefined) this.#sink.draft(draft, origin);
    else if (problem !== undefined) this.#sink.reject(problem.reason, problem.detail, origin);
  }
}

async function convertFile(file: InputFile, options: ConvertOptions, sink: DraftSink) {
  const reader = new SampleReader(options, sink);
  const decoder = new TextDecoder();
  for await (const chunk of file.open()) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      reader.write(decoder.decode(chunk.subarray(at, at + pieceBytes), { stream: true }));
      if (reader.isRefused) return;
    }
  }
  reader.close();
}

/**
 * Samples that JMeter writes as XML. A sample inside another is part of it, and skipped. The model is
 * `--model`, else the label; of a label that is a path or an address its last part. The file is read up to the
 * first thing that is no XML. A DOCTYPE is refused: its entities could grow without end.
 */
export const jmeterXml: FileFormat = {
  name: 'jmeter_xml',
  what: 'Apache JMeter: samples as XML (.jtl, .xml)',
  recognise: (head) => (/<testResults[\s>]/.test(head) ? 'element testResults' : undefined),
  convert: eachFile(convertFile),
};
