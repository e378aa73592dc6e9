import { z } from 'zod';
import { minuteMs } from '../base/time.ts';
import { duration, holdsLogin, httpUrl } from './setting-types.ts';

/** A schema registry with Confluent's API. */
export const schemaRegistry = z
  .strictObject({
    url: httpUrl
      .refine((url) => !holdsLogin(url), 'must hold no login: username and password have keys')
      .refine((url) => !/[?#]/.test(url), 'must have no query and no fragment')
      .optional()
      .describe('Address of the registry, with its path if it has one. Without it there is none.'),
    username: z.string().min(1).optional().meta({ holdsNoLogin: true }).describe('User.'),
    password: z
      .string()
      .optional()
      .meta({ secret: true })
      .describe('Password, from the environment.'),
    password_file: z.string().optional().describe('File whose first line is the password.'),
    token_file: z
      .string()
      .optional()
      .describe(
        'File that contains a bearer token, instead of a user. It is read at each request.',
      ),
    ca_file: z.string().optional().describe('PEM file of the authority, for https.'),
    cert_file: z.string().optional().describe('PEM file of the client certificate (mTLS).'),
    key_file: z.string().optional().describe('PEM file of the client key (mTLS).'),
    request_timeout: duration('10s', 100, 5 * minuteMs).describe(
      'Maximum duration of one request.',
    ),
  })
  .superRefine((value, context) => {
    const problem = (key: string, message: string) =>
      context.addIssue({ code: 'custom', path: [key], message });
    const { username, password, password_file, token_file } = value;
    const hasPassword = password !== undefined || password_file !== undefined;
    if (username !== undefined && !hasPassword) {
      problem('password_file', 'must be set, or TAILMARK_SCHEMA_REGISTRY_PASSWORD');
    }
    if (username === undefined && hasPassword) problem('username', 'must be set with a password');
    if (username !== undefined && token_file !== undefined) {
      problem('token_file', 'must not be set beside username');
    }
    if ((value.cert_file === undefined) !== (value.key_file === undefined)) {
      problem('cert_file', 'must be set together with key_file, or neither');
    }
  })
  .prefault({})
  .describe('The registry of the schemas of topics with `framing: confluent`.');
