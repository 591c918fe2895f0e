/**
 * A request over the native parser's buffer. Each read calls native code, so it happens on demand.
 * `detach` copies what a handler may still need once the buffer is gone.
 */
import { withoutStack } from '../../base/faults/expected-error.ts';
import type { HttpRequest, HttpRoute } from '../../base/ports/http.ts';
import { LazyAbort } from '../../concurrency/lazy-abort.ts';
import type { Request, Response } from './app.ts';

export class IncomingRequest implements HttpRequest {
  readonly id: string;
  private readonly route: HttpRoute;
  private readonly response: Response;
  private request: Request | undefined;
  private kept: Kept | undefined;
  private readonly leaving = new LazyAbort();

  constructor(id: string, route: HttpRoute, response: Response, request: Request) {
    this.id = id;
    this.route = route;
    this.response = response;
    this.request = request;
  }

  get method(): string {
    return this.route.method;
  }

  get path(): string {
    return this.request?.getUrl() ?? this.kept?.path ?? '';
  }

  get query(): string {
    return this.request?.getQuery() ?? this.kept?.query ?? '';
  }

  param(index: number): string {
    const raw = this.request?.getParameter(index) ?? this.kept?.params[index] ?? '';
    return raw.includes('%') ? decoded(raw) : raw;
  }

  header(name: string): string {
    if (this.request !== undefined) return this.request.getHeader(name);
    return this.kept?.headers[this.route.keep.indexOf(name)] ?? '';
  }

  headers(name: string): string {
    const found: string[] = [];
    this.request?.forEach((each, value) => {
      if (each === name) found.push(value);
    });
    return found.join(',');
  }

  hasHeader(prefix: string): boolean {
    let found = false;
    this.request?.forEach((name) => {
      if (name.startsWith(prefix)) found = true;
    });
    return found;
  }

  remoteAddress(): string {
    try {
      return addressText(new Uint8Array(this.response.getRemoteAddress()));
    } catch {
      // The native object refuses every access once the connection is gone.
      return '';
    }
  }

  get gone(): AbortSignal {
    return this.leaving.signal;
  }

  get isAbandoned(): boolean {
    return this.leaving.isAborted;
  }

  /** The connection is gone. */
  abandon(): void {
    this.leaving.abort();
  }

  /** The buffer is gone, and no copy was made. */
  release(): void {
    this.request = undefined;
  }

  /** Called before the buffer goes: keeps what the handler may read after the body. */
  detach(): void {
    const request = this.request;
    if (request === undefined) return;
    const count = this.route.pattern.split('/:').length - 1;
    this.kept = {
      path: request.getUrl(),
      query: request.getQuery() ?? '',
      params: Array.from({ length: count }, (_, i) => request.getParameter(i) ?? ''),
      headers: this.route.keep.map((name) => request.getHeader(name)),
    };
    this.request = undefined;
  }
}

interface Kept {
  readonly path: string;
  readonly query: string;
  readonly params: readonly string[];
  readonly headers: readonly string[];
}

/**
 * Text with an invalid encoding is returned as sent; a rule of the route then refuses it by name.
 */
function decoded(raw: string): string {
  try {
    return withoutStack(() => decodeURIComponent(raw));
  } catch {
    return raw;
  }
}

const MAPPED_PREFIX_BYTES = 12;

function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return '';
  const mapped = bytes.subarray(0, 10).every((b) => b === 0) && bytes[10] === 255;
  if (mapped) return bytes.subarray(MAPPED_PREFIX_BYTES).join('.');
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const groups = Array.from({ length: 8 }, (_, i) => view.getUint16(i * 2).toString(16));
  const text = groups.join(':');
  return text === '0:0:0:0:0:0:0:1' ? '::1' : text;
}
