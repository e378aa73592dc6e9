/** Commands of package.json by which a reader may start something. */
export type Scripts = Readonly<Record<string, string>>;

/**
 * The arguments that `words` hand to tailmark, however it is called: itself, from a checkout, by an
 * npm script, in its container. Null if it is another program.
 *
 * @throws {Error} for an npm script that does not exist
 */
export function tailmarkArguments(words: readonly string[], scripts: Scripts): string[] | null {
  const [program = '', ...rest] = words;
  if (program === 'tailmark' || /^(\.\/)?bin\/tailmark\.js$/.test(program)) return rest;
  if (program === 'node') {
    const script = rest.findIndex((word) => /^(\.\/)?bin\/tailmark\.js$/.test(word));
    return script < 0 ? null : rest.slice(script + 1);
  }
  if (program === 'npm' && (rest[0] === 'run' || rest[0] === 'test')) {
    return ofScript(rest[0] === 'test' ? rest : rest.slice(1), scripts);
  }
  if (program === 'docker') return ofContainer(rest);
  return null;
}

function ofScript([name = '', ...rest]: readonly string[], scripts: Scripts): string[] | null {
  const script = scripts[name];
  if (script === undefined) throw new Error(`npm run ${name}: package.json has no such script`);
  const given = rest[0] === '--' ? rest.slice(1) : [];
  const before = /^node bin\/tailmark\.js (.+)$/.exec(script)?.[1];
  return before === undefined ? null : [...before.split(' '), ...given];
}

/** `docker compose run … tailmark ARGUMENT…` and `docker run … tailmark:TAG ARGUMENT…`. */
function ofContainer(rest: readonly string[]): string[] | null {
  const run = rest.indexOf('run');
  const image = rest.findIndex((word, at) => at > run && /^tailmark(:[\w.]+)?$/.test(word));
  return run < 0 || image < 0 ? null : rest.slice(image + 1);
}
