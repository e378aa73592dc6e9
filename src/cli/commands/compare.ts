import { appendFileSync } from 'node:fs';
import { Option } from 'commander';
import { type ExitCode, exitCodes } from '../../base/exit-codes.ts';
import { OperatorError } from '../../base/operator-error.ts';
import {
  type CompareOptions,
  configuredMargin,
  ofOneValue,
} from '../../compare/compare-options.ts';
import type { NamedComparison, Verdict } from '../../compare/comparison.ts';
import { compareMixes } from '../../compare/like-with-like.ts';
import { byValue } from '../../compare/verdict/by-value.ts';
import { compareVersions } from '../../compare/verdict/compare-versions.ts';
import type { Config } from '../../config/schema.ts';
import { jointObjectives, objectivesOf } from '../../contract/objectives/objective.ts';
import { StageTable } from '../../contract/stage-table.ts';
import { asOfIncident } from '../../views/comparison/incident-comparison.ts';
import { visible } from '../../views/text/format.ts';
import type { Command } from '../command.ts';
import { askedComparison } from '../compare/asked-comparison.ts';
import { comparedByName, comparedValues, withValue } from '../compare/compared-values.ts';
import { type Compared, readCompared } from '../compare/read-compared.ts';
import { countOption } from '../flag-values.ts';
import type { Io, Options } from '../io.ts';
import { clickHouseFlags, loadSettings } from '../load.ts';
import {
  comparisonAnnotation,
  comparisonMarkdown,
  renderComparison,
  type ShownComparison,
} from '../text/render-comparison.ts';
import {
  renderValues,
  type ShownValues,
  valuesAnnotation,
  valuesMarkdown,
} from '../text/render-values.ts';
import { collected, whereFlag, wherePairs } from '../where.ts';

export const compare: Command = {
  flags: clickHouseFlags,
  ownsVersion: true,
  help: `
Examples:
  tailmark compare --model ranker --a v1 --b v2
  tailmark compare --model ranker --version v2 --baseline v1 --since 2026-11-01T12:00:00Z --json
  tailmark compare --model ranker --a v1 --b v2 --format github
  tailmark compare --model ranker --a-from 25h --a-to 24h --b-from 1h --b-to now
  tailmark compare --a-file before.ndjson --b-file after.ndjson.gz
  tailmark compare --model llm --a v1 --b v2 --by attributes.gpu
  tailmark compare --incident 7422f22f

The verdict is pass, fail or inconclusive. It may be asked every minute: of good releases, one in 50
ever fails. For that --since must stay the same time, such as that of the release: a range that moves
starts over. Compares complete minutes in which both versions have requests, of at most 24 h. Cold
starts are left out. Worse means: beyond detect.min_effect_ratio and detect.min_effect_ms, in whole
requests, milestones (first_token), times per token or goodput, or in --stages.
docs/explained/verdict.md says how it is found, and where it fails.

Where the sides consist of other request types, regions or sizes, it says so, and adds the quantiles that B
would have with the requests of A. The verdict is of the requests as they are.

Of two ranges, or of two files, the first minute of A is compared with the first one of B, and so on.
Versions may be named beside them. Files need no server.

Of an incident B is its time, and A the nearest time before it that is stored and in no other incident
of the same requests. The test that opened the incident gives the verdict, as it knows hours of the past.

--by compares the values of a dimension: docs/how-to/own-dimensions.md.

--format github prints an annotation, and appends a summary to the file in GITHUB_STEP_SUMMARY.

Exit codes: 0 pass or inconclusive, 2 fail. With --require-pass also 2 inconclusive: a mistyped name, or
producers that are down, must not let a job go on.`,
  configure(command) {
    command
      .option('--model <NAME>', 'the model; of files with one model not needed')
      .option('--a, --baseline <NAME>', 'the version that it is compared with')
      .option('--b, --version <NAME>', 'the version that is judged')
      .option('--since <TIME>', 'start of the range: a duration before now, or RFC 3339', '1h')
      .option('--until <TIME>', 'end of the range', 'now')
      .option('--a-from <TIME>', 'start of the range that is compared with')
      .option('--a-to <TIME>', 'its end')
      .option('--b-from <TIME>', 'start of the range that is judged')
      .option('--b-to <TIME>', 'its end')
      .option('--a-file <FILE>', 'recorded events to compare with: NDJSON, gzipped or not')
      .option('--b-file <FILE>', 'recorded events that are judged')
      .option('--incident <ID>', 'an incident against the time before: its id, or first characters')
      .option('--region <NAME>', 'only this region')
      .option('--request-type <NAME>', 'only this request type')
      .option(...whereFlag, collected)
      .addOption(
        new Option(
          '--by <NAME>',
          'a comparison a value: region, request_type, attributes.NAME',
        ).argParser(comparedByName),
      )
      .option('--stages <NAMES>', 'what decides beside failures, such as total,first_token,goodput')
      .option('--block <N>', 'minutes that are compared as one, where minutes remember', '1')
      .option('--cold', 'cold starts, and nothing else')
      .option('--require-pass', 'exit with 2 unless the verdict is pass')
      .addOption(
        new Option('--format <FORMAT>', 'form of results')
          .choices(['table', 'github'])
          .default('table'),
      );
  },
  async run(_args, options, io) {
    const { config } = await loadSettings(options, io);
    const asked = askedComparison(options, Date.now());
    const requests = {
      model: text(options.model),
      region: text(options.region),
      requestType: text(options.requestType),
      cold: options.cold === true,
      attributePairs: wherePairs(options.where),
    };
    const margin: Partial<CompareOptions> = {
      ...configuredMargin(config.detect),
      blockMinutes: countOption('--block', options.block, 1, 60),
    };
    const tested = stagesOption(options.stages);
    const by = text(options.by);
    if (by === '') {
      const read = await readCompared(config, asked, requests, io);
      if (read.unknown !== undefined) io.err(`${visible(read.unknown)}\n`);
      const compared = comparisonOf(read, config, tested, margin);
      print(compared, options, io);
      return exitCodeOf(compared.verdict, options);
    }
    const name = comparedByName(by);
    const {
      compared: values,
      unknown,
      ...others
    } = await comparedValues(config, name, asked, requests, io);
    if (unknown !== undefined) io.err(`${visible(unknown)}\n`);
    const compared: (readonly [string, ShownComparison])[] = [];
    for (const { value } of values) {
      const read = await readCompared(config, asked, withValue(requests, name, value), io);
      compared.push([value, comparisonOf(read, config, tested, ofOneValue(margin))]);
    }
    const all = { model: requests.model, ...byValue(name, compared, others) };
    printValues(all, options, io);
    return exitCodeOf(all.verdict, options);
  },
};

function comparisonOf(
  { input, mixes, goodput = [], unknown: _, incident, ...names }: Compared,
  config: Config,
  tested: readonly string[] | undefined,
  options: Partial<CompareOptions>,
): ShownComparison {
  const table = new StageTable(config.stages);
  const objectives = jointObjectives(objectivesOf(config.detect.slos), names.model);
  const comparison = compareVersions({ ...input, table, tested, objectives }, options);
  const ofReleases: NamedComparison = {
    ...{ ...names, ...comparison },
    ...compareMixes(comparison, mixes),
  };
  const compared =
    incident === undefined
      ? ofReleases
      : { ...asOfIncident(ofReleases, incident.event), incident: incident.named };
  return goodput.length === 0 ? compared : { ...compared, goodput };
}

function exitCodeOf(verdict: Verdict, options: Options): ExitCode {
  const isBad = options.requirePass === true ? verdict !== 'pass' : verdict === 'fail';
  return isBad ? exitCodes.found : exitCodes.ok;
}

function print(compared: ShownComparison, options: Options, io: Io): void {
  printAs(options, io, compared, {
    markdown: comparisonMarkdown,
    annotation: comparisonAnnotation,
    table: renderComparison,
  });
}

function printValues(compared: ShownValues, options: Options, io: Io): void {
  printAs(options, io, compared, {
    markdown: valuesMarkdown,
    annotation: valuesAnnotation,
    table: renderValues,
  });
}

interface Forms<Shown> {
  readonly markdown: (shown: Shown) => string;
  readonly annotation: (shown: Shown) => string;
  readonly table: (shown: Shown, io: Io) => string;
}

function printAs<Shown>(options: Options, io: Io, shown: Shown, forms: Forms<Shown>): void {
  if (options.format === 'github') {
    const path = io.env.GITHUB_STEP_SUMMARY ?? '';
    if (path !== '') append(path, forms.markdown(shown));
    io.out(forms.annotation(shown));
  } else if (options.json === true) io.out(`${JSON.stringify(shown)}\n`);
  else io.out(forms.table(shown, io));
}

function append(path: string, markdown: string): void {
  try {
    appendFileSync(path, markdown);
  } catch (error) {
    throw new OperatorError(
      'TAILMARK_PATH_UNWRITABLE',
      `Cannot append the summary as GITHUB_STEP_SUMMARY must name a file that can be written: it is ${path}`,
      { cause: error },
    );
  }
}

/** @throws OperatorError TAILMARK_USAGE for a list with an empty name. */
function stagesOption(option: unknown): readonly string[] | undefined {
  if (option === undefined) return undefined;
  const stages = text(option)
    .split(',')
    .map((stage) => stage.trim());
  if (!stages.includes('')) return stages;
  throw new OperatorError(
    'TAILMARK_USAGE',
    `Cannot compare as --stages must name stages with commas between: it is ${JSON.stringify(option)}`,
  );
}

function text(option: unknown): string {
  return typeof option === 'string' ? option : '';
}
