import type {
  ArrivalProfile,
  ModelProfile,
  RegionProfile,
  SizeProfile,
  StageProfile,
} from './model-profile.ts';

// Parameters of arrivals and tokens are fitted to the Azure Public Dataset, AzureLLMInferenceTrace 2023
// (Microsoft, CC-BY 4.0). docs/explained/traffic.md describes the fit and its quality.

/** Many independent users: the trace "conv". */
const conversation: ArrivalProfile = {
  components: [
    { variance: 0.0223, tauMs: 1_360 },
    { variance: 0.045, tauMs: 473_000 },
  ],
  jitterVariance: 0.0354,
};

/**
 * Editors that send requests while their users type: the trace "code", overdispersed 13 times at one second.
 */
const editor: ArrivalProfile = {
  components: [
    { variance: 1.1486, tauMs: 5_110 },
    { variance: 0.6752, tauMs: 48_100 },
  ],
  jitterVariance: 0.145,
};

const regions: readonly RegionProfile[] = [
  { name: 'eu-west-1', share: 0.6, peakHour: 13 },
  { name: 'us-east-1', share: 0.4, peakHour: 19 },
];

const versions = [
  { name: '2026-10-15', share: 0.8 },
  { name: '2026-11-01', share: 0.2 },
] as const;

/** Sizes from `least` to `most`: a lognormal for each share, median and sigma. */
const mixture = (
  least: number,
  most: number,
  ...parts: readonly (readonly [share: number, median: number, sigma: number])[]
): SizeProfile => ({
  parts: parts.map(([share, median, sigma]) => ({ share, median, sigma })),
  least,
  most,
});
const sizes = (median: number, sigma: number, least: number, most: number) =>
  mixture(least, most, [1, median, sigma]);
const one = sizes(1, 0, 1, 1);

/** A stage that holds no slot of its host. */
const stage = (
  name: string,
  baseMs: number,
  sigma: number,
  more: Pick<StageProfile, 'perUnitMs' | 'hitFactor'> = {},
): StageProfile => ({ name, baseMs, sigma, ...more });

/** A stage that holds one of the host's slots. */
const compute = (
  name: string,
  baseMs: number,
  sigma: number,
  perUnitMs: NonNullable<StageProfile['perUnitMs']>,
): StageProfile => ({ name, baseMs, sigma, perUnitMs, holdsSlot: true });

const ranker: ModelProfile = {
  name: 'ranker',
  service: 'rank-api',
  share: 0.7,
  versions,
  regions,
  requestTypes: [
    { name: 'search', share: 0.65, arrivals: conversation, items: sizes(24, 0.6, 1, 256) },
    { name: 'recommend', share: 0.35, arrivals: conversation, items: sizes(48, 0.4, 1, 256) },
  ],
  hostsPerRegion: 4,
  targetUse: 0.5,
  stages: [
    stage('ingress', 0.9, 0.35),
    stage('queue', 0.08, 0.3),
    stage('parse', 0.25, 0.25, { perUnitMs: { items: 0.008 } }),
    stage('features', 9, 0.35, { perUnitMs: { items: 0.3 }, hitFactor: 0.4 }),
    compute('preprocess', 0.6, 0.25, { items: 0.02 }),
    compute('forward', 6, 0.22, { items: 0.2 }),
    compute('postprocess', 0.8, 0.3, { items: 0.01 }),
    stage('downstream', 2.2, 0.45),
    stage('egress', 1.1, 0.35),
  ],
  coldStart: { share: 0.01, stage: 'forward', medianMs: 420, sigma: 0.4 },
  cacheHitShare: 0.8,
  bytesPerItem: 640,
  bytesPerToken: 0,
  deadlineMs: 3_000,
};

const embedder: ModelProfile = {
  name: 'embedder',
  service: 'embed-api',
  share: 0.24,
  versions,
  regions,
  requestTypes: [
    {
      name: 'query',
      share: 0.75,
      arrivals: conversation,
      items: one,
      inputTokens: sizes(18, 0.6, 2, 512),
    },
    {
      name: 'document',
      share: 0.25,
      arrivals: conversation,
      items: sizes(8, 0.5, 1, 32),
      inputTokens: sizes(900, 0.6, 32, 8_192),
    },
  ],
  hostsPerRegion: 3,
  targetUse: 0.5,
  stages: [
    stage('ingress', 0.8, 0.35),
    stage('queue', 0.06, 0.3),
    stage('parse', 0.2, 0.25, { perUnitMs: { input_tokens: 0.0005 } }),
    compute('preprocess', 0.5, 0.25, { input_tokens: 0.0012 }),
    compute('forward', 5, 0.2, { input_tokens: 0.018 }),
    compute('postprocess', 0.4, 0.3, { items: 0.05 }),
    stage('egress', 0.9, 0.35),
  ],
  coldStart: { share: 0.01, stage: 'forward', medianMs: 900, sigma: 0.4 },
  bytesPerItem: 120,
  bytesPerToken: 4.5,
  deadlineMs: 5_000,
};

const llm: ModelProfile = {
  name: 'llm',
  service: 'chat-api',
  share: 0.06,
  versions,
  regions,
  requestTypes: [
    {
      name: 'chat',
      share: 0.7,
      arrivals: conversation,
      items: one,
      inputTokens: mixture(2, 14_050, [0.6, 504, 1], [0.321, 1_083, 0.08], [0.079, 4_081, 0.08]),
      outputTokens: mixture(7, 1_000, [0.706, 100, 0.68], [0.294, 410, 0.08]),
    },
    {
      name: 'completion',
      share: 0.3,
      arrivals: editor,
      items: one,
      inputTokens: mixture(
        3,
        7_437,
        [0.317, 254, 1.28],
        [0.618, 1_903, 0.62],
        [0.065, 7_115, 0.08],
      ),
      outputTokens: mixture(6, 1_899, [0.659, 11, 0.38], [0.341, 37, 0.9]),
    },
  ],
  hostsPerRegion: 3,
  targetUse: 0.45,
  stages: [
    stage('ingress', 1.1, 0.35),
    stage('queue', 0.3, 0.3),
    // The text becomes tokens in it.
    stage('parse', 1.9, 0.25, { perUnitMs: { input_tokens: 0.0026 } }),
    stage('features', 28, 0.4, { hitFactor: 0.15 }),
    compute('prefill', 19, 0.12, { input_tokens: 0.09 }),
    compute('decode', 11, 0.12, { output_tokens: 11 }),
    compute('postprocess', 0.8, 0.3, { output_tokens: 0.01 }),
    stage('downstream', 6, 0.5),
    stage('egress', 1.6, 0.4),
  ],
  forwardStage: 'decode',
  coldStart: { share: 0.01, stage: 'model_load', medianMs: 6_000, sigma: 0.35 },
  cacheHitShare: 0.8,
  bytesPerItem: 300,
  bytesPerToken: 4.2,
  deadlineMs: 120_000,
};

/** A fleet of three models, two versions each, in two regions; the shares sum to 1. */
export const defaultFleet: readonly ModelProfile[] = [ranker, embedder, llm];
