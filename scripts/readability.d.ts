export interface Readability {
  readonly words: number;
  readonly widest: number;
  readonly ease: number;
  readonly wordsPerSentence: number;
}
export function pagePaths(): string[];
export function measure(text: string): Readability;
export function proseLines(text: string): string[];
export function syllablesOf(word: string): number;
