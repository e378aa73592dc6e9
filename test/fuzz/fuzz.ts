import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fuzzRound, roundMessages } from './fuzz-round.ts';
import { type Giant, giants } from './giants.ts';
import { otlpGiants } from './otlp-giants.ts';
import { recordGiants } from './record-giants.ts';
import { spanGiants } from './span-giants.ts';

/**
 * Fuzzes the decoder and every binary codec: see run.js for how it is called.
 *
 * Exit code 1 where something throws that may not, a message takes over 200 ms, the process
 * grows, or a giant takes over a second or 96 MiB.
 */
const argument = (name: string) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const say = (text: string) => process.stdout.write(`${text}\n`);
const MEBIBYTE = 1 << 20;
/** 16 MiB of spans of calls in OTLP JSON take 76 MiB. */
const MOST_GIANT_BYTES = 96 * MEBIBYTE;
const MOST_RSS_BYTES = 512 * MEBIBYTE;
const SLOWEST_MS = 200;
const SLOWEST_GIANT_MS = 1_000;
/** Runs of a slow giant, of which the fastest counts. */
const GIANT_RUNS = 3;

/** Giants of each subject. */
const allGiants: Readonly<Record<string, Readonly<Record<string, Giant>>>> = {
  timing: giants,
  otlp: otlpGiants,
  spans: spanGiants,
  records: recordGiants,
  secrets: {},
};
const subject = argument('of') ?? 'timing';
const giant = argument('giant');
if (giant === undefined) await main();
else await runGiant(giant);

async function main(): Promise<void> {
  const seed = Number(argument('seed') ?? 1);
  const only = argument('round');
  const rounds = Math.ceil(Number(argument('messages') ?? 200_000) / roundMessages);
  const mostMs = Number(argument('minutes') ?? Number.POSITIVE_INFINITY) * 60_000;
  const startedMs = performance.now();
  let slowestMs = 0;
  let done = 0;
  const first = Number(only ?? 0);
  const end = only === undefined ? rounds : first + 1;
  for (let round = first; round < end && performance.now() - startedMs < mostMs; round++) {
    try {
      slowestMs = Math.max(slowestMs, await fuzzRound(seed, round, subject));
    } catch (error) {
      say(`FAILED: npm run fuzz -- --of ${subject} --seed ${seed} --round ${round}`);
      throw error;
    }
    if (slowestMs > SLOWEST_MS) {
      say(
        `FAILED, ${Math.round(slowestMs)} ms: npm run fuzz -- --of ${subject} --seed ${seed} --round ${round}`,
      );
      process.exitCode = 1;
      return;
    }
    done++;
  }
  const count = done * roundMessages;
  const rssBytes = process.resourceUsage().maxRSS * 1024;
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  say(
    `${count} messages, seed ${seed}: 0 crashes, the slowest ${slowestMs.toFixed(1)} ms, ` +
      `peak ${Math.round(rssBytes / MEBIBYTE)} MiB, ${seconds} s`,
  );
  if (rssBytes > MOST_RSS_BYTES) {
    say(`FAILED: above ${MOST_RSS_BYTES / MEBIBYTE} MiB`);
    process.exitCode = 1;
  }
  if (only === undefined) measureGiants();
}

function measureGiants(): void {
  const self = fileURLToPath(import.meta.url);
  for (const name of Object.keys(allGiants[subject] ?? {})) {
    const child = spawnSync(
      process.execPath,
      ['--expose-gc', self, '--of', subject, '--giant', name],
      {
        encoding: 'utf8',
      },
    );
    say(
      child.status === 0 ? child.stdout.trim() : `FAILED: ${name}: ${child.stdout}${child.stderr}`,
    );
    if (child.status !== 0) process.exitCode = 1;
  }
}

/** Runs one giant here, and says how far memory rose above what its input had taken already. */
async function runGiant(name: string): Promise<void> {
  const run = allGiants[subject]?.[name]?.();
  if (run === undefined) throw new Error(`no giant ${name}`);
  globalThis.gc?.();
  const beforeBytes = process.memoryUsage.rss();
  let ms = await msOf(run);
  const roseBytes = Math.max(0, process.resourceUsage().maxRSS * 1024 - beforeBytes);
  for (let i = 1; i < GIANT_RUNS && ms > SLOWEST_MS; i++) ms = Math.min(ms, await msOf(run));
  const isFine = roseBytes <= MOST_GIANT_BYTES && ms <= SLOWEST_GIANT_MS;
  say(
    `${name}: +${Math.round(roseBytes / MEBIBYTE)} MiB, ${Math.round(ms)} ms${isFine ? '' : ' FAILED'}`,
  );
  if (!isFine) process.exitCode = 1;
}

async function msOf(run: ReturnType<Giant>): Promise<number> {
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(cpu);
  // What a busy machine adds is no stall of ours; what its collector's threads do is none either.
  return Math.min(performance.now() - startedMs, (user + system) / 1000);
}
