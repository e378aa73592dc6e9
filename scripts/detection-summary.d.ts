export function withDetectionSummary(document: string, read: (name: string) => string): string;
