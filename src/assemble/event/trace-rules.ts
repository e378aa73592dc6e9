import type { Source } from '../../formats/spans/presets/preset.ts';

/** How the event of a trace is made. In lists of sources the first that the root has counts. */
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
  /** Whether a direct child of the root that is not in it is a stage by its own name. */
  readonly otherChildren: 'stage' | 'ignore';
  readonly fields: FieldSources;
}

/** Sources of the event's fields. */
export interface FieldSources {
  readonly model: readonly Source[];
  readonly version: readonly Source[];
  readonly request_type: readonly Source[];
  readonly service: readonly Source[];
  readonly host: readonly Source[];
  readonly region: readonly Source[];
  readonly tenant: readonly Source[];
  readonly id: readonly Source[];
  readonly batch_size: readonly Source[];
  readonly input_tokens: readonly Source[];
  readonly output_tokens: readonly Source[];
}

export const defaultFields: FieldSources = {
  model: [
    'ml.model.name',
    'gen_ai.response.model',
    'gen_ai.request.model',
    'resource:service.name',
  ],
  version: ['ml.model.version'],
  request_type: [],
  service: ['resource:service.name'],
  host: ['resource:host.name'],
  region: ['resource:cloud.region'],
  tenant: ['tenant.id'],
  id: [],
  batch_size: ['ml.batch_size'],
  input_tokens: ['gen_ai.usage.input_tokens'],
  output_tokens: ['gen_ai.usage.output_tokens'],
};

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
