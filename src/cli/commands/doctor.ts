import { exitCodes } from '../../base/exit-codes.ts';
import type { Command } from '../command.ts';
import { examineMachine } from '../doctor/examine-machine.ts';
import { examineServers } from '../doctor/examine-servers.ts';
import { type Probes, probes as realProbes } from '../doctor/probes.ts';
import { connectionFlags } from '../load.ts';
import { type Machine, thisMachine } from '../machine.ts';
import { printReportLine } from '../text/report-line.ts';

export function createDoctor(machine: Machine, probes: Probes): Command {
  return {
    flags: connectionFlags,
    endsInOrder: true,
    help: `
Examples:
  tailmark doctor
  tailmark doctor --config tailmark.yaml --json | jq '.lines[] | select(.level != "ok")'

Exit codes: 0 no check fails (there may be warnings), 1 at least one fails.`,
    async run(_args, options, io) {
      const [local, servers] = await Promise.all([
        examineMachine(machine, io.env),
        examineServers(options, io, probes, machine),
      ]);
      const lines = [...local, ...servers];
      const failCount = lines.filter(({ level }) => level === 'fail').length;
      if (options.json === true) {
        io.out(`${JSON.stringify({ ok: failCount === 0, lines })}\n`);
      } else {
        for (const line of lines) printReportLine(line, io);
      }
      return failCount === 0 ? exitCodes.ok : exitCodes.failed;
    },
  };
}

export const doctor: Command = createDoctor(thisMachine, realProbes);
