import { minuteMs } from '../../../src/base/time.ts';
import { Random } from '../../../src/generate/random.ts';

const requests = 6_000;

/** Length of the traffic of one server, in minutes. */
export const servedMinutes = 20;

/** Requests whose time is that of their answers: so many tokens in the middle, and so many ms each. */
export function served(seed: string, tokens: number, perTokenMs: number) {
  const random = new Random(`lengths ${seed}`);
  return Array.from({ length: requests }, () => {
    const output_tokens = Math.max(1, Math.round(random.lognormal(tokens, 0.7)));
    const prefill = random.lognormal(150, 0.4);
    const decode = output_tokens * random.lognormal(perTokenMs, 0.2);
    return { output_tokens, prefill, decode, totalMs: prefill + decode };
  });
}

/** The same as events that end one after another. */
export function* servedEvents(
  startMs: number,
  of: { readonly version: string; readonly region?: string },
  all: ReturnType<typeof served>,
) {
  for (const [n, { output_tokens, prefill, decode, totalMs }] of all.entries()) {
    const endMs = startMs + Math.floor(((n + 0.5) * servedMinutes * minuteMs) / requests);
    yield {
      ts: Math.floor(endMs - totalMs),
      ...{ model: 'chat', ...of, output_tokens, stages_ms: { prefill, decode } },
    };
  }
}
