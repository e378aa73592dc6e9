import { limits } from '../../base/limits.ts';
import { objectOf, parsed } from '../../formats/loose-json.ts';
import type { FileFormat } from '../file-format.ts';
import { jsonObjects } from '../json-objects.ts';
import { requiredStart } from '../required-options.ts';

const MAX_RECORD_BYTES = 1024 * 1024;
/** Stage of the operators beyond those that an event may name. */
const OTHER = 'other_operators';

const nameOfFile = /^(.*)_(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)(?:_(\d{3}))?\.json(?:\.gz)?$/;

/**
 * ONNX Runtime's profile: an event for each `model_run`, with its operators as stages. Its times count from
 * the start of profiling, which the file's name has in local time: UTC is assumed, and `--start` says
 * otherwise. The first run is a warm-up.
 */
export const onnxruntime: FileFormat = {
  name: 'onnxruntime',
  what: 'ONNX Runtime, profile of a session',
  recognise(head) {
    const isProfile = /"cat" ?: ?"Session"/.test(head) && /"ph" ?: ?"X"/.test(head);
    return isProfile ? 'a trace with events of category Session' : undefined;
  },
  async convert(files, options, sink) {
    for (const file of files) {
      const [, name, day, hour, minute, second, ms = '000'] = nameOfFile.exec(file.name) ?? [];
      const namedMs = Date.parse(`${day}T${hour}:${minute}:${second}.${ms}Z`);
      const startOf = day === undefined ? options.startMs : (options.startMs ?? namedMs);
      const startMs = requiredStart(
        'onnxruntime',
        { startMs: startOf },
        'the name of the file does not',
      );
      let stages: Record<string, number> = {};
      for await (const { text, isWhole } of jsonObjects(file.open(), MAX_RECORD_BYTES)) {
        const record = isWhole ? objectOf(parsed(text)) : undefined;
        if (record === undefined) {
          const detail = `A record of ${file.name} must be a JSON object of at most 1 MiB`;
          sink.reject('invalid_json', detail, { bytes: () => Buffer.from(text) });
          continue;
        }
        const { cat, name: what, dur, ts } = record;
        if (typeof dur !== 'number' || typeof ts !== 'number' || typeof what !== 'string') continue;
        if (cat === 'Node' && what.endsWith('_kernel_time')) {
          add(stages, stageOf(what.slice(0, -'_kernel_time'.length)), dur);
        } else if (cat === 'Session' && what === 'model_run') {
          const draft = {
            ts: Math.floor(startMs + ts / 1e3),
            model: options.model ?? name,
            total_ms: dur / 1e3,
            stages_ms: milliseconds(stages),
          };
          stages = {};
          sink.draft(draft, { bytes: () => Buffer.from(text) });
        }
      }
    }
  },
};

function add(stages: Record<string, number>, name: string, microseconds: number): void {
  const hasRoom =
    Object.hasOwn(stages, name) || Object.keys(stages).length < limits.stagesPerEvent - 1;
  const stage = hasRoom ? name : OTHER;
  stages[stage] = (stages[stage] ?? 0) + microseconds;
}

/** Names of nodes are paths and texts; names of stages are not. */
function stageOf(node: string): string {
  const name = node.replace(/[^A-Za-z0-9_.:/-]/g, '_').slice(0, 64);
  return /^[A-Za-z]/.test(name) ? name : `op${name}`.slice(0, 64);
}

function milliseconds(stages: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(stages).map(([name, us]) => [name, us / 1e3]));
}
