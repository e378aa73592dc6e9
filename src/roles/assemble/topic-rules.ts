import type { AssembleSettings } from '../../assemble/assemble-settings.ts';
import { childrenRules, type TraceRules, tritonRules } from '../../assemble/event/trace-rules.ts';
import type { AssembleConfig, AssembleTopic } from '../../config/assemble.ts';
import type { FieldSources } from '../../formats/spans/rules/span-fields.ts';

/** Returns the rules of a topic, as its configuration and its preset have them. */
export function rulesOf({
  preset,
  root_names: rootNames,
  stages,
  other_children: otherChildren,
  fields,
  weight,
}: AssembleTopic): TraceRules {
  const base = preset === 'triton' ? tritonRules : childrenRules;
  const named = Object.entries(stages).flatMap(([stage, names]) =>
    names.map((name) => [name, stage] as const),
  );
  const given = Object.entries(fields).filter(([, sources]) => sources !== undefined);
  const sources: FieldSources = { ...base.fields, ...Object.fromEntries(given) };
  return {
    stagesFrom: base.stagesFrom,
    rootNames: rootNames.length > 0 ? new Set(rootNames) : base.rootNames,
    stageOf: new Map(named),
    otherChildren,
    fields: sources,
    weight,
  };
}

/** Returns when traces close, as the configuration says. */
export function settingsOf(config: AssembleConfig): AssembleSettings {
  return {
    waitMs: config.wait,
    maxTraceMs: config.max_trace,
    lateMemoryMs: config.late_memory,
    maxOpenTraces: config.max_open_traces,
    maxSpansPerTrace: config.max_spans,
    maxBytes: config.max_bytes,
  };
}
