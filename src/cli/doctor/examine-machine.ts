import { OperatorError } from '../../base/operator-error.ts';
import type { Io } from '../io.ts';
import type { Machine } from '../machine.ts';
import type { ReportLine } from '../text/report-line.ts';
import { examineNode } from './examine-node.ts';

const gib = 1024 ** 3;
/** The engines use 0.6 GiB, and a demo leaves some data. */
const leastFreeBytes = 2 * gib;

/** Examines this machine for tailmark and for the local stack. Only Node is required. */
export async function examineMachine(machine: Machine, env: Io['env']): Promise<ReportLine[]> {
  const lines = await Promise.all([
    found('Java', () => machine.javaVersion(env), String),
    found('Maven', () => machine.mavenPath(env), String),
    docker(machine, env),
    found('ClickHouse engine', () => machine.enginePath(), String),
    cache(machine, env),
  ]);
  return [examineNode(machine.nodeVersion, machine.nowMs()), ...lines];
}

async function found<T>(
  what: string,
  find: () => Promise<T>,
  describe: (value: T) => string,
): Promise<ReportLine> {
  try {
    return { level: 'ok', what, detail: describe(await find()) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const { message: detail, hint } = error;
    return { level: 'warn', what, detail, ...(hint === undefined ? {} : { hint }) };
  }
}

async function docker(machine: Machine, env: Io['env']): Promise<ReportLine> {
  const what = 'Docker';
  try {
    return { level: 'ok', what, detail: await machine.dockerVersion(env) };
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    // Java and npm can run the local stack as well, so Docker is optional.
    if (isAbsent) return { level: 'ok', what, detail: 'not installed, and not needed' };
    const hint = 'To use containers, start Docker or join the group that may use it.';
    return { level: 'warn', what, detail: 'installed, but its server does not respond', hint };
  }
}

async function cache(machine: Machine, env: Io['env']): Promise<ReportLine> {
  const what = 'Cache directory';
  const dir = await machine.cacheDir(env);
  let freeBytes: number;
  try {
    freeBytes = await machine.freeBytes(dir);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    const hint = 'Set TAILMARK_CACHE_DIR to a writable directory.';
    return { level: 'warn', what, detail: `${dir} is not writable (${reason})`, hint };
  }
  const detail = `${dir}, ${(freeBytes / gib).toFixed(1)} GiB free`;
  if (freeBytes >= leastFreeBytes) return { level: 'ok', what, detail };
  const hint = `The local stack needs ${leastFreeBytes / gib} GiB: free some, or set TAILMARK_CACHE_DIR.`;
  return { level: 'warn', what, detail, hint };
}
