import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LocalPorts {
  readonly kafka: number;
  readonly kafkaController: number;
  readonly clickhouseHttp: number;
  readonly clickhouseTcp: number;
}

const fileName = 'ports.json';

/** Reads the ports of the last start in this directory; leaves invalid ones out. */
export function readPorts(dir: string): Partial<LocalPorts> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(dir, fileName), 'utf8'));
    if (value === null || typeof value !== 'object') return {};
    const entries = Object.entries(value).filter(
      ([, port]) => Number.isInteger(port) && port > 0 && port < 65_536,
    );
    return Object.fromEntries(entries);
  } catch {
    return {};
  }
}

/** Saves the ports, so that a restart uses the same endpoints if they are free. */
export function writePorts(dir: string, ports: LocalPorts): void {
  writeFileSync(join(dir, fileName), `${JSON.stringify(ports)}\n`);
}
