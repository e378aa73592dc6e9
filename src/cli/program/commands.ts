import type { Command } from '../command.ts';

/** A command as `tailmark --help` lists it; its code is loaded only when it is called. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/**
 * Lists every command, in the order of `tailmark --help`. A new one is a file in commands/ and an entry
 * here; docs/reference/cli.md is generated from it.
 */
export const commands: readonly ListedCommand[] = [
  {
    name: 'demo',
    summary: 'run a demo: broker, database, traffic, a regression, the anomaly',
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  {
    name: 'up',
    summary: 'run a local Kafka and ClickHouse in the foreground, without Docker',
    load: async () => (await import('../commands/up.ts')).up,
  },
  {
    name: 'run',
    summary: 'read events, keep tails, raise anomalies',
    load: async () => (await import('../commands/run.ts')).run,
  },
  {
    name: 'check',
    summary: 'validate the configuration, and with --connect the servers',
    load: async () => (await import('../commands/check.ts')).check,
  },
  {
    name: 'migrate',
    summary: 'create or update the tables in ClickHouse, and set their retention',
    load: async () => (await import('../commands/migrate.ts')).migrate,
  },
  {
    name: 'generate',
    summary: 'send realistic timing events, with faults to find',
    load: async () => (await import('../commands/traffic/generate.ts')).generateCommand,
  },
  {
    name: 'replay',
    summary: 'send recorded timing events again',
    load: async () => (await import('../commands/traffic/replay.ts')).replayCommand,
  },
  {
    name: 'convert',
    summary: 'convert spans, access logs and load-test results to timing events',
    load: async () => (await import('../commands/traffic/convert.ts')).convert,
  },
  {
    name: 'tails',
    summary: 'print the latency tails of each model and stage over a range',
    load: async () => (await import('../commands/tails.ts')).tails,
  },
  {
    name: 'compare',
    summary: 'compare two versions of a model, with a verdict for a release',
    load: async () => (await import('../commands/compare.ts')).compare,
  },
  {
    name: 'anomalies',
    summary: 'list anomalies, open ones first, with the stage to blame',
    load: async () => (await import('../commands/anomalies.ts')).anomalies,
  },
  {
    name: 'explain',
    summary: 'show an anomaly with its evidence, timeline and drivers',
    load: async () => (await import('../commands/explain.ts')).explain,
  },
  {
    name: 'alert',
    summary: 'test a receiver, or preview what each would get',
    load: async () => (await import('../commands/alert.ts')).alert,
  },
  {
    name: 'mute',
    summary: 'notify nobody of some anomalies for a while: load tests, maintenance',
    load: async () => (await import('../commands/mute.ts')).mute,
  },
  {
    name: 'backtest',
    summary: 'run the detector over the past, to compare configurations',
    load: async () => (await import('../commands/backtest.ts')).backtest,
  },
  {
    name: 'verify',
    summary: 'prove from the ledger that every event was counted exactly once',
    load: async () => (await import('../commands/verify.ts')).verify,
  },
  {
    name: 'doctor',
    summary: 'check this machine, Kafka and ClickHouse, and suggest fixes',
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
];
