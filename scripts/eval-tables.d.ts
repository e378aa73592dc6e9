export const evalPages: Readonly<Record<string, readonly string[]>>;
export function withEvalTables(document: string, results: string, name: string): string;
