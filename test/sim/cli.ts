import { simulate } from './simulate.ts';

const [, , from, to, verbose] = process.argv;
let events = 0;
let bad = 0;
const began = performance.now();
const faults = new Map<string, number>();
for (let seed = Number(from); seed <= Number(to ?? from); seed++) {
  const trace = verbose ? (line: string) => process.stdout.write(`${line}\n`) : undefined;
  const result = await simulate(seed, trace === undefined ? {} : { trace });
  events += result.eventCount;
  for (const [k, n] of result.faults) faults.set(k, (faults.get(k) ?? 0) + n);
  if (result.problems.length > 0) {
    bad++;
    process.stdout.write(
      `seed ${seed}: ${result.problems.length} ${result.problems[0]}   [${[...result.faults.keys()].join(' ')}]\n`,
    );
  }
}
const ms = performance.now() - began;
process.stdout.write(
  `${bad} bad, ${events} events, ${(ms / (Number(to ?? from) - Number(from) + 1)).toFixed(1)} ms a seed, ${(process.cpuUsage().user / 1000 / (Number(to ?? from) - Number(from) + 1)).toFixed(1)} ms user\n${[...faults].map(([k, n]) => `${k}=${n}`).join(' ')}\n`,
);
process.exit(bad > 0 ? 1 : 0);
