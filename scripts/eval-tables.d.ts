export const evalNames: readonly string[];
export function withEvalTables(document: string, results: string, name: string): string;
