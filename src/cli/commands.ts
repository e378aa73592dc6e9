import type { Command } from './command.ts';

/** A command as `tailmark --help` lists it; its code is loaded only when it is meant. */
export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

/** Every command, in the order of `tailmark --help`. A test holds names and summaries. */
export const commands: readonly ListedCommand[] = [
  {
    name: 'check',
    summary: 'validate the configuration, and with --connect the servers',
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'doctor',
    summary: 'report what this machine and its servers lack',
    load: async () => (await import('./doctor.ts')).doctor,
  },
];
