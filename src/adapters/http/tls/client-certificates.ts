/**
 * Whom a server with TlsFiles.clientCa answers: clients whose certificate an authority of that file
 * has signed, as long as it is valid.
 *
 * The app has verified the certificate in the handshake, but lets clients in that show none. A
 * connection, or a session that is resumed, may outlive its certificate, so its end counts at each
 * request.
 */
import { X509Certificate } from 'node:crypto';
import { apiError } from '../../../base/errors.ts';
import type { HttpReply } from '../../../base/ports/http.ts';
import { BoundedCache } from '../../../concurrency/bounded-cache.ts';
import type { Handler, HandlerTable, Request, Response } from '../app.ts';
import { errorReply } from '../reply.ts';

const ENDS_MAX = 1000;
const MISSING = errorReply(apiError('ClientCertificateMissing'));
const EXPIRED = errorReply(apiError('ClientCertificateExpired'));

/** Handlers get only the requests of such clients. `refuse` answers the others and ends their connection. */
export function onlyCertified(
  table: HandlerTable,
  refuse: (response: Response, request: Request, refusal: HttpReply) => void,
): HandlerTable {
  const certificates = new ClientCertificates();
  const guarded =
    (handler: Handler): Handler =>
    (response, request) => {
      const refusal = certificates.refusal(response, Date.now());
      if (refusal === undefined) handler(response, request);
      else refuse(response, request, refusal);
    };
  return {
    get: (pattern, handler) => table.get(pattern, guarded(handler)),
    head: (pattern, handler) => table.head(pattern, guarded(handler)),
    post: (pattern, handler) => table.post(pattern, guarded(handler)),
    options: (pattern, handler) => table.options(pattern, guarded(handler)),
    any: (pattern, handler) => table.any(pattern, guarded(handler)),
  };
}

export class ClientCertificates {
  /** When certificates end, in ms, by their PEM. */
  private readonly ends = new BoundedCache<string, number>(ENDS_MAX);

  /** Undefined where the client is answered at `now`, in ms. */
  refusal(response: Pick<Response, 'getX509Certificate'>, now: number): HttpReply | undefined {
    const shown = response.getX509Certificate();
    if (shown === '') return MISSING;
    return this.endOf(shown) > now ? undefined : EXPIRED;
  }

  private endOf(pem: string): number {
    const known = this.ends.get(pem);
    if (known !== undefined) return known;
    const end = Date.parse(new X509Certificate(pem).validTo);
    this.ends.set(pem, end);
    return end;
  }
}
