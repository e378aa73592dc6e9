export interface Plot {
  readonly path: string;
  readonly text: string;
}
export function evalPlots(falsePages: string, faultsFound: string): Plot[];
export function tableOf(results: string, head: string): Record<string, string>[];
