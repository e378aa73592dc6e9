import { describeType } from '../../src/config/describe-type.ts';
import { inputSchema, propertiesOf } from '../../src/config/input-schema.ts';
import { listSettings, type Setting } from '../../src/config/read/list-settings.ts';
import { otherVariables } from '../../src/config/read/read-environment.ts';
import { entryTables } from './render-entries.ts';

const intro = `<!-- Made from src/config/schema.ts by \`npm run generate:docs\`: change it there. -->
# Configuration

\`tailmark check --show\` prints every setting in force and where it comes from. Of two values for one
key the first of these wins:

1. a flag (\`--brokers\`, \`--topic\`, \`--group\`, \`--clickhouse-url\`, \`--database\`, \`--log-level\`),
2. the environment variable of the key,
3. the YAML file: \`--config FILE\`, else \`TAILMARK_CONFIG\`, else \`./tailmark.yaml\` if there is one,
4. the default.

The file is YAML 1.2 and is read strictly: an unknown or repeated key, or a value of the wrong form,
is an error. All errors are shown at once, each with its line and a hint. The exit code is 78.
Nothing is interpolated into the file: \`\${VAR}\` is text. Start from
[minimal.yaml](../../config/minimal.yaml); [example.yaml](../../config/example.yaml) has every key, and
[schema.json](../../config/schema.json) lets an editor check while you type.

## Values

- **Durations** are a number and a unit: \`500ms\`, \`10s\`, \`5m\`, \`24h\`, \`7d\`, \`2w\`.
- **Environment variables** are \`TAILMARK_\` and the path of the key in capitals, joined by \`_\`. Lists are
  separated by commas, lists of maps and \`stages\` are JSON. An empty variable counts as absent. Optional blocks
  (\`kafka.tls\`, \`kafka.sasl\`) have one too: \`true\` turns the block on, \`false\` off. A
  \`TAILMARK_\` variable that is no setting is an error. The exceptions are those below, and the links
  that Kubernetes writes for a Service named \`tailmark\` (\`TAILMARK_PORT_9464_TCP_ADDR\`).
- **Secrets** come from the environment or from files of their own, never from this file or a flag.
  \`password_file\`, \`secret_file\` and \`url_file\` name a file whose first line is the secret. To set
  both the secret and its file in one place is an error. Between two places the order above decides. No output
  shows one: see [security.md](../how-to/security.md).
- **Blocks** with nothing below them (\`kafka:\`) mean their defaults.
`;

/** docs/reference/configuration.md: every setting with what it must be, its default and its variable. */
export function renderReference(): string {
  const others = Object.entries(otherVariables);
  const sections = Object.entries(propertiesOf(inputSchema())).map(([name, block]) => {
    const rows = listSettings().filter(({ path }) => path[0] === name);
    const head = [`## ${name}`, '', `${block.description}`, ''];
    return [...head, ...table(rows), ...entryTables(rows)].join('\n');
  });
  const variables = [
    '## Other variables',
    '',
    '| variable | what it is for |',
    '|---|---|',
    ...others.map(([name, what]) => `| \`${name}\` | ${what} |`),
  ].join('\n');
  return `${[intro, ...sections.map((section) => `${section}\n`), `${variables}\n`].join('\n')}`;
}

function table(settings: readonly Setting[]): string[] {
  return [
    '| key | must be | default | variable | what it does |',
    '|---|---|---|---|---|',
    ...settings.map((setting) => {
      const { key, node, environment, isBlock } = setting;
      const must = isBlock ? 'a map, optional' : describeType(node);
      const text = defaultText(node.default);
      return `| \`${key}\` | ${must} | ${text} | \`${environment}\` | ${node.description} |`;
    }),
  ];
}

function defaultText(value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return `\`[${value.join(', ')}]\``;
  if (typeof value === 'object') return `\`${JSON.stringify(value)}\``;
  return value === '' ? '`""`' : `\`${String(value)}\``;
}
