/** A node's refusal of a request, as a line of output. */
import type { RefusedError } from '../../api/client.ts';
import { isObject } from '../../base/json.ts';

export function refusalLine({ status, body, message }: RefusedError): Record<string, unknown> {
  return isObject(body) ? body : { error: status, message };
}
