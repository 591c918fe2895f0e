/**
 * Calls of programs on this machine, which need no key for some methods (decision 38).
 *
 * A page in a browser of this machine calls from it, too. It may come from anywhere, and the name of
 * its server may have been changed to mean this machine. But a browser then names the origin of the
 * page, and the host that it believes to call.
 */
import type { HttpRequest } from '../base/ports/http.ts';

export type Caller = Pick<HttpRequest, 'hasHeader' | 'headers' | 'remoteAddress'>;

/** True for a call from this machine, neither through a proxy nor from a page. */
export function isLocalProgram(request: Caller, ownNames: readonly string[]): boolean {
  if ([...PROXY_TRACES, ...BROWSER_TRACES].some((prefix) => request.hasHeader(prefix)))
    return false;
  return isLoopback(request.remoteAddress()) && isOwnHost(request.headers('host'), ownNames);
}

/** Headers, by the beginning of their name, that proxies and balancers add, and no program sends. */
const PROXY_TRACES: readonly string[] = [
  ...['forwarded', 'via', 'x-forwarded', 'x-original-', 'x-real-ip', 'x-remote-', 'x-proxy'],
  ...['client-ip', 'true-client-ip', 'x-client-ip', 'x-cluster-client-ip', 'fastly-client-ip'],
  ...['cf-', 'cdn-loop', 'x-envoy-', 'x-amzn-', 'x-appengine-', 'x-azure-', 'x-arr-', 'x-varnish'],
];
/** What only browsers send. A page of the same origin names no origin in some requests. */
const BROWSER_TRACES: readonly string[] = ['origin', 'referer', 'sec-fetch-'];

/** `host` is the whole header; two of them are no host. */
function isOwnHost(host: string, ownNames: readonly string[]): boolean {
  const [, name = ''] = /^(\[[0-9a-f.:]+\]|[^:[\],]+)(?::\d*)?$/i.exec(host.trim()) ?? [];
  const plain = plainName(name);
  if (plain === '') return false;
  return plain === 'localhost' || isLoopback(plain) || ownNames.map(plainName).includes(plain);
}

/** Without brackets and the dot that ends a full name. */
const plainName = (name: string): string =>
  name
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();

const isLoopback = (address: string): boolean =>
  address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
