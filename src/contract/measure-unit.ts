import { firstTokenNames, gapStage, measures } from '../base/dimensions.ts';

const units: Readonly<Record<string, string>> = {
  [measures.timePerOutputToken]: ' per token',
  [measures.prefillPer1kInputTokens]: ' per 1,000 tokens',
  [measures.interTokenLatency]: ' between tokens',
};

/** " per token": what follows the milliseconds of a measure; '' of stages, whose milliseconds are a request's. */
export function perUnit(stage: string): string {
  return Object.hasOwn(units, stage) ? (units[stage] as string) : '';
}

const words: Readonly<Record<string, string>> = {
  ...Object.fromEntries(firstTokenNames.map((name) => [name, 'TTFT'])),
  [measures.timePerOutputToken]: 'TPOT',
  [measures.interTokenLatency]: 'ITL',
};

/** "TTFT": what users call a stage; its name without another word. */
export function stageWord(stage: string): string {
  return Object.hasOwn(words, stage) ? (words[stage] as string) : stage;
}

/** "TTFT (first_token)": what users call a stage, and its name; the name alone without another word. */
export function stageLabel(stage: string): string {
  const word = stageWord(stage);
  return word === stage ? stage : `${word} (${stage})`;
}

/** What the counts of a stage count: requests, or of the stage of gaps between tokens the gaps. */
export function countedNoun(stage: string): 'request' | 'gap' {
  return stage === gapStage ? 'gap' : 'request';
}
