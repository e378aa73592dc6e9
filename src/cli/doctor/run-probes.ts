import type { ProbeFinding } from '../../base/probe-finding.ts';
import type { Config } from '../../config/schema.ts';
import type { Probes } from './probes.ts';

/** Longest wait for a probe, milliseconds. */
const deadlineMs = 15_000;

/** Runs the probes of both servers concurrently; a probe that hangs or throws is a finding. */
export async function runProbes(
  probes: Probes,
  config: Config,
  signal: AbortSignal,
): Promise<ProbeFinding[]> {
  const both = [
    bounded('Kafka', probes.kafka(config), signal),
    bounded('ClickHouse', probes.clickhouse(config), signal),
  ];
  return (await Promise.all(both)).flat();
}

async function bounded(
  what: string,
  probe: Promise<ProbeFinding[]>,
  signal: AbortSignal,
): Promise<ProbeFinding[]> {
  const { promise, resolve } = deferred<ProbeFinding[]>();
  const give = (detail: string) => resolve([{ ok: false, what, detail }]);
  const onAbort = () => give('interrupted');
  const timer = setTimeout(() => give(`no response within ${deadlineMs / 1000} s`), deadlineMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  probe.then(resolve, (error: unknown) => give(String(error)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((give) => {
    resolve = give;
  });
  return { promise, resolve };
}
