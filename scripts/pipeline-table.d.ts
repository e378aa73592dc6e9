export function withPipelineTables(document: string, results: string): string;
export function sectionsOf(results: string): {
  events: number;
  perMessage: number;
  peers: { name: string; about: string; cpu: string; wall: string; peak: string; ratio: string }[];
}[];
