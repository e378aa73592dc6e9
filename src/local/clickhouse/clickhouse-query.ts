import { request } from 'node:http';

const timeoutMs = 10_000;

/** Runs one statement over HTTP as the default user. Rejects with the server's response. */
export function queryClickHouse(port: number, sql: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method: 'POST', agent: false, timeout: timeoutMs };
    const call = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        body += part;
      });
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(body);
        else reject(new Error(`ClickHouse responded with ${response.statusCode}: ${body.trim()}`));
      });
    });
    call.on('timeout', () => call.destroy(new Error('ClickHouse did not respond')));
    call.on('error', reject);
    call.end(sql);
  });
}
