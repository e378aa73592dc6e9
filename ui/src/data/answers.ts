// The answers of the API; types alone, nothing of the server is bundled.
export type * from '../../../src/views/answers/anomalies.ts';
export type { Range, WindowState, Windows } from '../../../src/views/answers/common.ts';
export type * from '../../../src/views/answers/compare.ts';
export type * from '../../../src/views/answers/composition.ts';
export type * from '../../../src/views/answers/density.ts';
export type * from '../../../src/views/answers/facets.ts';
export type * from '../../../src/views/answers/goodput.ts';
export type * from '../../../src/views/answers/lengths.ts';
export type * from '../../../src/views/answers/models.ts';
export type * from '../../../src/views/answers/mutes.ts';
export type * from '../../../src/views/answers/pipeline.ts';
export type * from '../../../src/views/answers/releases.ts';
export type * from '../../../src/views/answers/requests.ts';
export type * from '../../../src/views/answers/tails.ts';
export type * from '../../../src/views/answers/versions.ts';

import type { RequestsAnswer } from '../../../src/views/answers/requests.ts';

export type TypicalRequest = RequestsAnswer['typical'][number];
