/** A request that Node has read, as the server asks for it. */
import type { IncomingMessage } from 'node:http';
import type { Request } from '../app.ts';

export class NodeRequest implements Request {
  private readonly method: string;
  private readonly path: string;
  private readonly query: string;
  private readonly params: readonly string[];
  /** Names and values in turn, as sent. */
  private readonly raw: readonly string[];

  constructor(
    { method = '', rawHeaders }: IncomingMessage,
    target: Target,
    params: readonly string[],
  ) {
    this.method = method.toLowerCase();
    this.path = target.path;
    this.query = target.query;
    this.params = params;
    this.raw = rawHeaders;
  }

  getMethod(): string {
    return this.method;
  }

  getUrl(): string {
    return this.path;
  }

  getQuery(): string {
    return this.query;
  }

  getParameter(index: number): string | undefined {
    return this.params[index];
  }

  getHeader(name: string): string {
    const { raw } = this;
    for (let i = 0; i < raw.length; i += 2) {
      const each = raw[i]!;
      if (each.length === name.length && each.toLowerCase() === name) return unicode(raw[i + 1]!);
    }
    return '';
  }

  forEach(each: (name: string, value: string) => void): void {
    const { raw } = this;
    for (let i = 0; i < raw.length; i += 2) each(raw[i]!.toLowerCase(), unicode(raw[i + 1]!));
  }
}

export interface Target {
  readonly path: string;
  readonly query: string;
}

export function targetOf(url: string): Target {
  const text = unicode(url);
  const mark = text.indexOf('?');
  if (mark < 0) return { path: text, query: '' };
  return { path: text.slice(0, mark), query: text.slice(mark + 1) };
}

const BEYOND_ASCII = /[\x80-\xff]/;

/** Node gives a character for each byte. */
function unicode(text: string): string {
  return BEYOND_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}
