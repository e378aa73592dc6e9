import { readFileSync } from 'node:fs';
import type { ConfigProblem } from '../config-error.ts';
import { readYaml } from './read-yaml.ts';

const folder = new URL('../../../config/presets/', import.meta.url);

/** A mapping as its file writes it, not yet checked. */
export interface MappingFile {
  readonly value: Readonly<Record<string, unknown>>;
  /** Mistakes in the YAML. */
  readonly problems: readonly ConfigProblem[];
  /** Returns `file:line:column` of a key, or of the nearest one around it. */
  where(path: readonly PropertyKey[]): string;
}

/** Parses the text of a mapping. */
export function readMapping(text: string, file: string): MappingFile {
  const tree = readYaml(text, file);
  return {
    value: tree.value,
    problems: tree.problems,
    where: (path) => tree.where(path, 'value'),
  };
}

/** Reads config/presets/<name>.yaml, which is part of the package. */
export function readPreset(name: string): MappingFile {
  const file = `${name}.yaml`;
  return readMapping(readFileSync(new URL(file, folder), 'utf8'), `config/presets/${file}`);
}
