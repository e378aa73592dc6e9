import { defaultFields, type FieldSources } from '../../formats/spans/rules/span-fields.ts';

/** Rules that make the event of a trace. In lists of sources the first that the root has counts. */
export interface TraceRules {
  /**
   * `children`: stages are the root's direct children by name, and the halves of shared spans (Zipkin).
   * `triton`: stages come from the events of Triton's spans.
   */
  readonly stagesFrom: 'children' | 'triton';
  /** Names of spans that are the root whatever their parent; empty: the span without a parent. */
  readonly rootNames: ReadonlySet<string>;
  /** Stage by name of a span, anywhere below the root. */
  readonly stageOf: ReadonlyMap<string, string>;
  /** Use of a direct child of the root that `stageOf` lacks: a stage by its own name, or none. */
  readonly otherChildren: 'stage' | 'ignore';
  readonly fields: FieldSources;
  /** Requests that a trace stands for whose trace state does not say it; undefined: one. */
  readonly weight?: number | undefined;
}

/** Spans of the root of Triton's traces, which may continue a trace of the caller. */
const tritonRoot = 'InferRequest';

/** Rules of traces as Triton writes them with `--trace-config mode=opentelemetry`. */
export const tritonRules: TraceRules = {
  stagesFrom: 'triton',
  rootNames: new Set([tritonRoot]),
  stageOf: new Map(),
  otherChildren: 'stage',
  fields: {
    ...defaultFields,
    model: ['triton.model_name', 'resource:service.name'],
    version: ['triton.model_version'],
    service: [],
    id: ['triton.request_id'],
  },
};

/** Rules of traces whose root says what they are. */
export const childrenRules: TraceRules = {
  stagesFrom: 'children',
  rootNames: new Set(),
  stageOf: new Map(),
  otherChildren: 'stage',
  fields: defaultFields,
};
