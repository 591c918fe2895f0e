/** Fields of transactions as values of the script language. */
import { type CaseObject, caseObject, UNIT, type Value } from '../../script/language/values.ts';
import type { Entry } from '../fields/entries.ts';
import type { Recipient } from '../fields/recipient.ts';

export const optional = (bytes: Uint8Array | undefined): Value => bytes ?? UNIT;

export const account = (recipient: Recipient): CaseObject =>
  recipient.kind === 'address'
    ? addressRecord(recipient.bytes)
    : caseObject('Alias', { alias: recipient.name });

export const addressRecord = (bytes: Uint8Array): CaseObject => caseObject('Address', { bytes });

export const dataEntry = ({ key, value }: Entry): CaseObject =>
  caseObject('DataEntry', { key, value });
