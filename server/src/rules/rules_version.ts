/**
 * Which rules decide. It is one more with each change after which the same request on the same state may be decided otherwise, so that
 * whoever executes a log anew knows which leaves it can judge.
 */
export const rulesVersion = 2;
