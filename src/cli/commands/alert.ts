import type { Command as Commander } from 'commander';
import { OperatorError } from '../../base/operator-error.ts';
import { previewAlert } from '../alert/preview-alert.ts';
import { testReceiver } from '../alert/test-receiver.ts';
import type { Command } from '../command.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';

export const alert: Command = {
  flags: clickHouseFlags,
  help: `
Examples:
  tailmark alert test pager            open and end a test anomaly at one receiver, and say what it answered
  tailmark alert preview               what each receiver would get of the most severe one now, and why
  tailmark alert preview 7422f22f

A test is marked as one in each message. It goes to the receiver whatever its match says. A preview sends
nothing. It is based on the configuration, and on the deliveries and mutes in ClickHouse. Secrets are left out.

Exit codes: 0 done, 1 a receiver did not accept.`,
  configure(command: Commander) {
    command
      .argument('<ACTION>', 'test or preview')
      .argument(
        '[NAME_OR_ID]',
        'the receiver to test; the anomaly to preview, by default the most severe open one',
      );
  },
  async run([action, nameOrId], options, io) {
    const { config } = await loadSettings(options, io);
    if (action === 'test') return testReceiver(config, nameOrId, options, io);
    if (action === 'preview') return previewAlert(config, nameOrId ?? '', options, io);
    throw new OperatorError(
      'TAILMARK_USAGE',
      `Cannot run as alert must be followed by test or preview: it is ${JSON.stringify(action)}`,
    );
  },
};
