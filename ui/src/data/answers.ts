// The answers of the API that charts draw; types alone, nothing of the server is bundled.
export type { Range, WindowState, Windows } from '../../../src/views/answers/common.ts';
export type { SliceRow } from '../../../src/views/answers/composition.ts';
export type { DensityRow } from '../../../src/views/answers/density.ts';
export type { FacetRow } from '../../../src/views/answers/facets.ts';

import type { RequestsAnswer } from '../../../src/views/answers/requests.ts';

export type { RequestRow, RequestsAnswer } from '../../../src/views/answers/requests.ts';
export type { TailRow } from '../../../src/views/answers/tails.ts';
export type TypicalRequest = RequestsAnswer['typical'][number];
