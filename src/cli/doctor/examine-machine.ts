import { OperatorError } from '../../base/operator-error.ts';
import type { Io } from '../io.ts';
import type { Machine } from '../machine.ts';
import type { ReportLine } from '../text/report-line.ts';

const gib = 1024 ** 3;
/** The engines use 0.6 GiB, and a demo leaves some data. */
const leastFreeBytes = 2 * gib;

/** Examines this machine for tailmark and for the local stack. Only Node is required. */
export async function examineMachine(machine: Machine, env: Io['env']): Promise<ReportLine[]> {
  const lines = await Promise.all([
    found('Java', () => machine.javaVersion(env)),
    found('Maven', () => machine.mavenPath(env)),
    docker(machine, env),
    found('ClickHouse engine', () => machine.enginePath()),
    cache(machine, env),
  ]);
  return [examineNode(machine.nodeVersion, machine.nowMs()), ...lines];
}

async function found(what: string, find: () => Promise<unknown>): Promise<ReportLine> {
  try {
    return { level: 'ok', what, detail: String(await find()) };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { level: 'warn', what, detail: error.message, hint: error.hint };
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

const least = { major: 20, minor: 19 };

/** Ends of life of the lines with long-term support, from the Node.js release schedule. */
const endsOfLife: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
};

const recommended = 'Node 24 is supported until 2028-04-30.';

/** Examines whether this Node runs tailmark and still gets security fixes. */
export function examineNode(version: string, nowMs: number): ReportLine {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const what = 'Node';
  if (major < least.major || (major === least.major && minor < least.minor)) {
    const detail = `${version} is too old; tailmark needs ${least.major}.${least.minor} or later`;
    return { level: 'fail', what, detail, hint: recommended };
  }
  const end = endsOfLife[major];
  if (end === undefined) {
    const detail = `${version} is not tested with tailmark`;
    return { level: 'warn', what, detail, hint: recommended };
  }
  if (nowMs > Date.parse(`${end}T23:59:59Z`)) {
    const detail = `${version} gets no security fixes since ${end}`;
    return { level: 'warn', what, detail, hint: recommended };
  }
  return { level: 'ok', what, detail: `${version}, supported until ${end}` };
}
