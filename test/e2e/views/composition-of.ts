/** A request as it was sent, with its duration. */
export interface RawRequest {
  readonly endMs: number;
  readonly totalMs: number;
  readonly stages: Readonly<Record<string, number>>;
}

/** A slice as it follows from the requests themselves. */
export interface RawSlice {
  readonly fromShare: number;
  readonly toShare: number;
  readonly requests: number;
  readonly meanMs: number;
  readonly aboveMs: number | null;
  readonly belowMs: number | null;
  readonly parts: ReadonlyMap<string, number>;
}

/** Lower edge of the quarter octave that holds a duration: by logarithms, not by bits. */
export function lowerEdgeOf(ms: number): number {
  const octave = Math.floor(Math.log2(ms));
  const quarter = Math.floor((ms / 2 ** octave - 1) * 4);
  return 2 ** octave * (1 + quarter / 4);
}

/**
 * Slices of requests, cut at those edges of bands whose share of requests beyond is next to that of the
 * quantiles: by sorting the requests, without any sum by band.
 */
export function compositionOf(
  requests: readonly RawRequest[],
  cuts: readonly number[],
): RawSlice[] {
  const sorted = requests.toSorted((a, b) => a.totalMs - b.totalMs);
  const edges = [...new Set(sorted.map(({ totalMs }) => lowerEdgeOf(totalMs)))].slice(1);
  const beyond = (edge: number) => sorted.filter(({ totalMs }) => totalMs >= edge).length;
  const shareBeyond = new Map(edges.map((edge) => [edge, beyond(edge) / sorted.length]));
  const distance = (edge: number, q: number) =>
    Math.abs(Math.log((shareBeyond.get(edge) ?? 0) / (1 - q)));
  const chosen = cuts.map((q) => edges.toSorted((a, b) => distance(a, q) - distance(b, q))[0]);
  const ends = [...new Set(chosen.filter((edge) => edge !== undefined))].sort((a, b) => a - b);
  return [undefined, ...ends].map((above, i) => {
    const below = ends[i];
    const own = sorted.filter(
      ({ totalMs }) => totalMs >= (above ?? 0) && totalMs < (below ?? Number.POSITIVE_INFINITY),
    );
    const mean = (of: (request: RawRequest) => number) =>
      own.reduce((sum, request) => sum + of(request), 0) / own.length;
    const stages = new Set(sorted.flatMap((request) => Object.keys(request.stages)));
    return {
      fromShare: above === undefined ? 0 : 1 - (shareBeyond.get(above) ?? 0),
      toShare: below === undefined ? 1 : 1 - (shareBeyond.get(below) ?? 0),
      requests: own.length,
      meanMs: mean(({ totalMs }) => totalMs),
      aboveMs: above ?? null,
      belowMs: below ?? null,
      parts: new Map(
        [...stages].map((stage) => [stage, mean((request) => request.stages[stage] ?? 0)]),
      ),
    };
  });
}
