/** The headers that let pages of other origins read answers (rest.md#cors). */
import type { HttpReply, HttpServerOptions, OtherOrigins } from '../../base/ports/http.ts';

export type HttpHeaders = readonly (readonly [name: string, value: string])[];

/** `origin` is that of the request; '' where it names none. */
export interface Cors {
  answer(origin: string): HttpHeaders;
  preflight(origin: string): HttpReply;
}

const OK = 200;
const FORBIDDEN = 403;
const BY_ORIGIN = [['vary', 'Origin']] as const;
const ALL = [['access-control-allow-origin', '*']] as const;
/** How long a browser may keep the answer to a preflight. */
const PREFLIGHT_SECONDS = 600;

/** Undefined where no page of another origin may read answers. */
export function corsOf(rule: HttpServerOptions['cors']): Cors | undefined {
  if (rule === false) return undefined;
  return rule === true ? everyOrigin : chosenOrigins(rule);
}

/** A browser that sends credentials refuses `*`, so a given origin is echoed. */
const everyOrigin: Cors = {
  answer: (origin) => (origin === '' ? ALL : [...echo(origin), ...BY_ORIGIN]),
  preflight: (origin) => ({
    status: OK,
    type: '',
    body: '',
    headers: [
      ['access-control-allow-origin', origin === '' ? '*' : origin],
      ...(origin === '' ? [] : BY_ORIGIN),
      ['access-control-allow-credentials', 'true'],
      [
        'access-control-allow-headers',
        'Authorization, Content-Type, X-Requested-With, Timestamp, X-API-Key, Signature, Accept, api_key, Traceparent, Last-Event-ID',
      ],
      ['access-control-allow-methods', 'OPTIONS, POST, PUT, GET, DELETE'],
    ],
  }),
};

const echo = (origin: string): HttpHeaders => [
  ['access-control-allow-origin', origin],
  ['access-control-allow-credentials', 'true'],
];

/** Answers to other origins say nothing, so the browser keeps them from the page. */
function chosenOrigins({ allowed, exposed, accepted }: OtherOrigins): Cors {
  const known = new Set(allowed === '*' ? [] : allowed);
  const readable: HttpHeaders =
    exposed.length === 0 ? [] : [['access-control-expose-headers', exposed.join(', ')]];
  const toAll = [...ALL, ...readable];
  const permitted = (origin: string): HttpHeaders | undefined => {
    if (allowed === '*') return ALL;
    return known.has(origin) ? [...echo(origin), ...BY_ORIGIN] : undefined;
  };
  return {
    answer(origin) {
      if (allowed === '*') return toAll;
      const headers = permitted(origin);
      return headers === undefined ? BY_ORIGIN : [...headers, ...readable];
    },
    preflight(origin) {
      const headers = permitted(origin);
      if (headers === undefined)
        return { status: FORBIDDEN, type: '', body: '', headers: BY_ORIGIN };
      return {
        status: OK,
        type: '',
        body: '',
        headers: [
          ...headers,
          ['access-control-allow-headers', accepted.join(', ')],
          ['access-control-allow-methods', 'GET, POST, OPTIONS'],
          ['access-control-max-age', String(PREFLIGHT_SECONDS)],
        ],
      };
    },
  };
}
