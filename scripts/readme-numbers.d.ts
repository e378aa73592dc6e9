export function withReadmeNumbers(document: string, read: (name: string) => string): string;
export function commandOf(results: string): string;
