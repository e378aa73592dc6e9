import { isIP } from 'node:net';
import { z } from 'zod';
import { hourMs, secondMs } from '../base/time.ts';
import { duration, hostAndPort } from './setting-types.ts';

/** Requests that machines make; each can be left open to all. */
const machineRequests = ['verdict', 'gate', 'autoscale', 'mutes'] as const;

const network = z
  .string()
  .refine((text) => isNetwork(text), 'must be an IP address or a range such as 10.0.0.0/8')
  .meta({ form: 'an IP address or a range such as 10.0.0.0/8' });

/** An origin in `frame-ancestors`: nothing that ends the directive, and no path. */
const origin = z
  .string()
  .regex(
    /^('self'|https?:\/\/(\*\.)?[A-Za-z0-9.-]+(:\d{1,5})?)$/,
    `must be an origin such as https://wiki.example, or 'self'`,
  )
  .meta({ form: `an origin such as https://wiki.example, or 'self'` });

const auth = z
  .strictObject({
    tokens_file: z
      .string()
      .optional()
      .describe(
        'File with a line NAME SHA256 for each token that may read. After these may stand `operate`, so that it may change mutes too, or `models=PATTERN,PATTERN`, so that it reads these models alone. The file is read again when it changes.',
      ),
    proxy: z
      .strictObject({
        addresses: z
          .array(network)
          .min(1)
          .describe(
            'Addresses of the proxy. Of others neither its header nor X-Forwarded-For counts.',
          ),
        header: z
          .string()
          .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
          .meta({ form: 'the name of a header' })
          .transform((name) => name.toLowerCase())
          .optional()
          .describe(
            'Header in which it names the user, such as X-Forwarded-User. It must remove the header from what clients send. Without it the proxy logs nobody in.',
          ),
      })
      .optional()
      .describe('A proxy in front, which may log users in and name them in a header.'),
    open: z
      .array(z.enum(machineRequests))
      .min(1)
      .optional()
      .describe(
        'Requests of machines that everybody may make, from everywhere: verdict, gate, autoscale, mutes (to list them).',
      ),
  })
  .refine(
    ({ tokens_file, proxy, open }) =>
      tokens_file !== undefined || proxy?.header !== undefined || open !== undefined,
    { error: 'must hold tokens_file, proxy with a header, or open' },
  )
  .optional()
  .describe(
    'Who may read the dashboard and the API. Without tokens_file or a header of a proxy they answer on loopback addresses only, but for what open names. Health and metrics answer everywhere.',
  );

/** Left to a process with the role `serve`: others may run next to it with the same configuration. */
export const defaultListen = '127.0.0.1:9464';

export const http = z
  .strictObject({
    listen: hostAndPort(9464)
      .default(defaultListen)
      .describe(
        'Address of the dashboard, /healthz, /readyz, /metrics and /v1. A process without the role serve has health and metrics at another address than the default one. Port 0 chooses a free one.',
      ),
    auth,
    frame_ancestors: z
      .array(origin)
      .min(1)
      .optional()
      .describe(
        'Origins whose pages may embed panels of the dashboard (`?only=PANEL`). None where it is not set.',
      ),
    keep_alive_timeout: duration('75s', secondMs, hourMs).describe(
      'How long an idle connection is kept. Must be longer than the idle time-out of a balancer in front of it, which else gets a closed connection and answers 502: 60 s of an ALB or nginx, 600 s of a Google balancer.',
    ),
    request_timeout: duration('2m', secondMs, hourMs).describe(
      'How long a client may take to send a request; at least 5 s longer than keep_alive_timeout in effect.',
    ),
    operator_token: z
      .string()
      .min(16)
      .optional()
      .meta({ secret: true })
      .describe('Bearer token that may change something: mutes. From the environment.'),
    operator_token_file: z
      .string()
      .optional()
      .describe('File whose first line is the operator token.'),
  })
  .prefault({})
  .describe('The dashboard, health, metrics and the API.');

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
  if (bits < 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
