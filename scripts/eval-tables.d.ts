export function withEvalTables(document: string, results: string): string;
