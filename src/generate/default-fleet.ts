import type { ArrivalProfile, ModelProfile, RegionProfile, SizeProfile } from './model-profile.ts';

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

const sizes = (median: number, sigma: number, least: number, most: number): SizeProfile => ({
  parts: [{ share: 1, median, sigma }],
  least,
  most,
});
const one = sizes(1, 0, 1, 1);

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
    { name: 'ingress', baseMs: 0.9, sigma: 0.35 },
    { name: 'queue', baseMs: 0.08, sigma: 0.3 },
    { name: 'parse', baseMs: 0.25, perUnitMs: { items: 0.008 }, sigma: 0.25 },
    { name: 'features', baseMs: 9, perUnitMs: { items: 0.3 }, sigma: 0.35, hitFactor: 0.4 },
    {
      name: 'preprocess',
      baseMs: 0.6,
      perUnitMs: { items: 0.02 },
      sigma: 0.25,
      holdsSlot: true,
    },
    { name: 'forward', baseMs: 6, perUnitMs: { items: 0.2 }, sigma: 0.22, holdsSlot: true },
    { name: 'postprocess', baseMs: 0.8, perUnitMs: { items: 0.01 }, sigma: 0.3, holdsSlot: true },
    { name: 'downstream', baseMs: 2.2, sigma: 0.45 },
    { name: 'egress', baseMs: 1.1, sigma: 0.35 },
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
    { name: 'ingress', baseMs: 0.8, sigma: 0.35 },
    { name: 'queue', baseMs: 0.06, sigma: 0.3 },
    { name: 'parse', baseMs: 0.2, perUnitMs: { input_tokens: 0.0005 }, sigma: 0.25 },
    {
      name: 'preprocess',
      baseMs: 0.5,
      perUnitMs: { input_tokens: 0.0012 },
      sigma: 0.25,
      holdsSlot: true,
    },
    {
      name: 'forward',
      baseMs: 5,
      perUnitMs: { input_tokens: 0.018 },
      sigma: 0.2,
      holdsSlot: true,
    },
    { name: 'postprocess', baseMs: 0.4, perUnitMs: { items: 0.05 }, sigma: 0.3, holdsSlot: true },
    { name: 'egress', baseMs: 0.9, sigma: 0.35 },
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
      inputTokens: {
        parts: [
          { share: 0.6, median: 504, sigma: 1 },
          { share: 0.321, median: 1_083, sigma: 0.08 },
          { share: 0.079, median: 4_081, sigma: 0.08 },
        ],
        least: 2,
        most: 14_050,
      },
      outputTokens: {
        parts: [
          { share: 0.706, median: 100, sigma: 0.68 },
          { share: 0.294, median: 410, sigma: 0.08 },
        ],
        least: 7,
        most: 1_000,
      },
    },
    {
      name: 'completion',
      share: 0.3,
      arrivals: editor,
      items: one,
      inputTokens: {
        parts: [
          { share: 0.317, median: 254, sigma: 1.28 },
          { share: 0.618, median: 1_903, sigma: 0.62 },
          { share: 0.065, median: 7_115, sigma: 0.08 },
        ],
        least: 3,
        most: 7_437,
      },
      outputTokens: {
        parts: [
          { share: 0.659, median: 11, sigma: 0.38 },
          { share: 0.341, median: 37, sigma: 0.9 },
        ],
        least: 6,
        most: 1_899,
      },
    },
  ],
  hostsPerRegion: 3,
  targetUse: 0.45,
  stages: [
    { name: 'ingress', baseMs: 1.1, sigma: 0.35 },
    { name: 'queue', baseMs: 0.3, sigma: 0.3 },
    { name: 'parse', baseMs: 0.4, perUnitMs: { input_tokens: 0.0006 }, sigma: 0.25 },
    { name: 'features', baseMs: 28, sigma: 0.4, hitFactor: 0.15 },
    {
      name: 'preprocess',
      baseMs: 1.5,
      perUnitMs: { input_tokens: 0.002 },
      sigma: 0.25,
      holdsSlot: true,
    },
    {
      name: 'forward',
      baseMs: 30,
      perUnitMs: { input_tokens: 0.09, output_tokens: 11 },
      sigma: 0.12,
      holdsSlot: true,
    },
    {
      name: 'postprocess',
      baseMs: 0.8,
      perUnitMs: { output_tokens: 0.01 },
      sigma: 0.3,
      holdsSlot: true,
    },
    { name: 'downstream', baseMs: 6, sigma: 0.5 },
    { name: 'egress', baseMs: 1.6, sigma: 0.4 },
  ],
  coldStart: { share: 0.01, stage: 'model_load', medianMs: 6_000, sigma: 0.35 },
  cacheHitShare: 0.8,
  bytesPerItem: 300,
  bytesPerToken: 4.2,
  deadlineMs: 120_000,
};

/** A fleet of three models, two versions each, in two regions; the shares sum to 1. */
export const defaultFleet: readonly ModelProfile[] = [ranker, embedder, llm];
