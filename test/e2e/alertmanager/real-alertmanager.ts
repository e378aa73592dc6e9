import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePorts } from '../../../src/local/local-ports.ts';
import { poll } from '../kit/poll.ts';

/** Where Debian's package, and Prometheus' own archive, put it; undefined where there is none. */
export const alertmanagerBinary = [
  '/usr/bin/prometheus-alertmanager',
  '/usr/local/bin/alertmanager',
].find(existsSync);

/** A notification of Alertmanager's own, as its receiver gets it. */
interface Notified {
  readonly status: string;
  readonly alerts: readonly { status: string; labels: Record<string, string> }[];
}

/** The real Alertmanager, with the inhibit rules of docs/how-to/alerts.md, that notifies a server of the test. */
export class RealAlertmanager {
  readonly url: string;
  readonly #notified: Notified[] = [];
  readonly #port: number;
  readonly #dir = mkdtempSync(join(tmpdir(), 'tailmark-alertmanager-'));
  readonly #receiver: Server;
  #process: ReturnType<typeof spawn> | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (part) => {
        body += part;
      });
      request.on('end', () => {
        this.#notified.push(JSON.parse(body));
        response.end();
      });
    });
  }

  static async open(): Promise<RealAlertmanager> {
    const [port = 0] = await choosePorts([{ flag: 'port' }]);
    const manager = new RealAlertmanager(port);
    await new Promise<void>((resolve) => manager.#receiver.listen(0, '127.0.0.1', resolve));
    await manager.start();
    return manager;
  }

  async start(): Promise<void> {
    const hook = `http://127.0.0.1:${(this.#receiver.address() as AddressInfo).port}/`;
    const config = join(this.#dir, 'alertmanager.yml');
    writeFileSync(config, configurationOf(hook));
    const options = [
      `--config.file=${config}`,
      `--storage.path=${this.#dir}/data`,
      `--web.listen-address=127.0.0.1:${this.#port}`,
      '--cluster.listen-address=',
    ];
    this.#process = spawn(alertmanagerBinary ?? '', options, { stdio: 'ignore' });
    await poll('Alertmanager is ready', async () => {
      const response = await fetch(`${this.url}/-/ready`).catch(() => undefined);
      return response?.ok ? true : undefined;
    });
  }

  /** SIGTERM: killed with -9 it repeats itself, as its log is written at the end. */
  async stop(): Promise<void> {
    const ended = this.#process && once(this.#process, 'exit');
    this.#process?.kill('SIGTERM');
    await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    this.#receiver.closeAllConnections();
    this.#receiver.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** What people are notified of one anomaly, in order: `firing warning`, `firing critical`, `resolved`. */
  storyOf(dedupKey: string): string[] {
    return this.#notified
      .filter(({ alerts }) => alerts.some(({ labels }) => labels.dedup_key === dedupKey))
      .map(({ status, alerts }) => {
        const firing = alerts.filter((alert) => alert.status === 'firing');
        const severities = firing.map(({ labels }) => labels.severity).sort();
        return `${status} ${severities.join('+')}`.trim();
      });
  }
}

function configurationOf(hook: string): string {
  return [
    'route:',
    '  receiver: hook',
    '  group_by: [dedup_key]',
    '  group_wait: 200ms',
    '  group_interval: 500ms',
    '  repeat_interval: 24h',
    'receivers:',
    '  - name: hook',
    '    webhook_configs:',
    `      - url: ${hook}`,
    '        send_resolved: true',
    'inhibit_rules:',
    '  - source_matchers: [severity="critical"]',
    '    target_matchers: [severity=~"warning|info"]',
    '    equal: [dedup_key]',
    '',
  ].join('\n');
}
