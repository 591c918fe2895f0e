/** Requests with two lengths of one body, of which another server may believe the other one. */
import type { Test } from 'tap';
import { exchange } from './raw-socket.ts';

/** The second length makes a request of what the first one leaves over. */
const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n';

/**
 * Checks that a server refuses such a request, takes nothing of its body for a request, and ends the
 * connection. Where a whole request is hidden in the body, the end may come without an answer.
 */
export async function refusesTwoLengths(
  t: Test,
  port: number,
  line: string,
  more: readonly string[] = [],
): Promise<void> {
  const all = HIDDEN.length;
  const lengths: [first: number | '', second: number, body: string][] = [
    [all, 0, HIDDEN],
    [all, all - 1, HIDDEN],
    [5, 6, 'abcdef'],
    [0, all, HIDDEN],
    ['', all, HIDDEN],
    ['', 5, 'abcde'],
  ];
  for (const [first, second, body] of lengths) {
    const given = [`Content-Length: ${first}`, ...more, `content-length: ${second}`];
    const head = [`${line} HTTP/1.1`, 'Host: h', ...given].join('\r\n');
    const { text, closed } = await exchange(port, [`${head}\r\n\r\n${body}`]);
    const name = `${line}: ${first}, ${second}`;
    const maySayNothing = body === HIDDEN && (first === 0 || first === '');
    if (!maySayNothing || text !== '') t.match(text, /^HTTP\/1\.1 400 /, name);
    t.ok(text.split('HTTP/1.1 ').length <= 2, `${name}: one answer`);
    t.ok(closed, `${name}: nothing more on this connection`);
  }
}
