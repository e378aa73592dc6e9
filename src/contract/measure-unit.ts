import { measures } from '../base/dimensions.ts';

const units: Readonly<Record<string, string>> = {
  [measures.timePerOutputToken]: ' per token',
  [measures.prefillPer1kInputTokens]: ' per 1,000 tokens',
  [measures.interTokenLatency]: ' between tokens',
};

/** " per token": what follows the milliseconds of a measure; '' of stages, whose milliseconds are a request's. */
export function perUnit(stage: string): string {
  return Object.hasOwn(units, stage) ? (units[stage] as string) : '';
}
