/** Limits how many of each protocol run at a time on one session. */
import { createSlots, type Slots } from '../../base/slots.ts';

export class SlotsByProtocol {
  private readonly slots = new Map<string, Slots>();

  of(protocol: string, count: number): Slots {
    let slots = this.slots.get(protocol);
    if (slots === undefined) {
      slots = createSlots(count);
      this.slots.set(protocol, slots);
    }
    return slots;
  }
}
