/**
 * Requests that no handler sees. The bounds of a head, and the words of the refusals, are those of
 * the native app.
 */
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from 'node:http';
import { TWO_LENGTHS } from '../lengths.ts';
import { httpDate } from './http-date.ts';

/** Bytes of the request line and of all headers. */
export const HEAD_BYTES_MAX = 4096;
const HEADERS_MAX = 98;
/** A colon, a space and the end of the line. */
const HEADER_EXTRA_BYTES = 4;

const BAD_REQUEST = page(400);
const TOO_LARGE = page(431);
const OTHER_VERSION = page(505, '<p>This server does not support HTTP/1.0.</p>');

/** The whole answer to a request with such a head; undefined where a handler may see it. */
export function headRefusal(request: IncomingMessage): string | undefined {
  const { httpVersion, url = '', rawHeaders } = request;
  if (httpVersion !== '1.1' || !url.startsWith('/')) return OTHER_VERSION;
  let bytes = url.length;
  for (const text of rawHeaders) bytes += text.length;
  const count = rawHeaders.length / 2;
  bytes += count * HEADER_EXTRA_BYTES;
  if (bytes > HEAD_BYTES_MAX || count > HEADERS_MAX) return TOO_LARGE;
  return request.headers.host === undefined ? BAD_REQUEST : undefined;
}

/**
 * The whole answer to what Node cannot read: '' where the client has said before that nothing
 * follows, undefined where the connection has failed.
 */
export function parserRefusal(code: string): string | undefined {
  if (code === 'HPE_CLOSED_CONNECTION') return '';
  if (code === 'HPE_HEADER_OVERFLOW') return TOO_LARGE;
  if (code === 'HPE_UNEXPECTED_CONTENT_LENGTH') return twoLengths();
  return code.startsWith('HPE_') ? BAD_REQUEST : undefined;
}

function page(status: number, more = ''): string {
  const text = STATUS_CODES[status];
  return `HTTP/1.1 ${status} ${text}\r\nConnection: close\r\n\r\n<h1>${text}</h1>${more}`;
}

function twoLengths(): string {
  const { status, type, body } = TWO_LENGTHS;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${type}`,
    'x-content-type-options: nosniff',
    'Connection: close',
    `Date: ${httpDate()}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
