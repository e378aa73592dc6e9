export interface LocalClickHouseUser {
  readonly name: string;
  readonly password: string;
  /** Full statements without a grantee: "GRANT SELECT ON tailmark.*". */
  readonly grants: readonly string[];
  /** Settings of a separate profile. @default {those of the server} */
  readonly settings?: Readonly<Record<string, string>>;
  /** Limits of what the user may set, by setting. @default {none} */
  readonly constraints?: Readonly<Record<string, SettingConstraint>>;
}

/** Values that a user may give a setting: those of a range, or none. */
export type SettingConstraint = { readonly min: string; readonly max: string } | 'readonly';

/**
 * The server's configuration. System log tables are off, so that only the user's data fills the disk. The log
 * level is an argument (`--log-level`), because the engine does not read it from here.
 */
export function clickHouseServerConfig(logPath: string, usersPath: string): string {
  return element('clickhouse', [
    element('logger', [element('log', logPath), element('size', '5M'), element('count', '1')]),
    element('timezone', 'UTC'),
    element('keep_alive_timeout', '30'),
    element('max_server_memory_usage_to_ram_ratio', '0.5'),
    element('mark_cache_size', String(256 * 1024 * 1024)),
    element('background_pool_size', '4'),
    element('background_schedule_pool_size', '8'),
    element('users_config', usersPath),
  ]);
}

/**
 * The users, all restricted to this machine. `default` has no password and every right except to create
 * users, because the engine has no writable storage for them. The given users have their own grants.
 */
export function clickHouseUsersConfig(users: readonly LocalClickHouseUser[]): string {
  const common = (profile = 'default') => [
    element('networks', [element('ip', '127.0.0.1')]),
    element('profile', profile),
    element('quota', 'default'),
  ];
  const withProfile = users.filter(({ settings }) => settings !== undefined);
  return element('clickhouse', [
    element('users', [
      element('default', [
        element('password', ''),
        ...common(),
        element('access_management', '1'),
        element('named_collection_control', '1'),
      ]),
      ...users.map((user) =>
        element(user.name, [
          element('password', user.password),
          ...common(user.settings === undefined ? 'default' : user.name),
          element(
            'grants',
            user.grants.map((grant) => element('query', grant)),
          ),
        ]),
      ),
    ]),
    element('profiles', [
      element('default', ''),
      ...withProfile.map(({ name, settings = {}, constraints = {} }) =>
        element(name, [
          ...Object.entries(settings).map(([setting, value]) => element(setting, value)),
          ...constraintsElement(constraints),
        ]),
      ),
    ]),
    element('quotas', [element('default', '')]),
  ]);
}

function constraintsElement(constraints: Readonly<Record<string, SettingConstraint>>): string[] {
  const each = Object.entries(constraints).map(([setting, constraint]) =>
    element(
      setting,
      constraint === 'readonly'
        ? [element('readonly', '')]
        : [element('min', constraint.min), element('max', constraint.max)],
    ),
  );
  return each.length === 0 ? [] : [element('constraints', each)];
}

function element(name: string, content: string | readonly string[]): string {
  if (!/^[A-Za-z_][\w.-]*$/.test(name)) {
    throw new RangeError(`Cannot configure ClickHouse: a user's name must be plain; it is ${name}`);
  }
  const body =
    typeof content === 'string'
      ? escapeXml(content)
      : `\n${content.join('').replaceAll(/^(?=.)/gm, '  ')}`;
  return `<${name}>${body}</${name}>\n`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
