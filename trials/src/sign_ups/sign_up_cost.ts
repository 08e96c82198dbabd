/** CPU time of sign-ups, beside the cryptography that a sign-up with a wallet cannot do without. */
import { bareSignUpUs } from "../../../bench/src/sign_up_baselines.ts";
import type { ServerCpu } from "../codes/login_cost.ts";

export function signUpCostText(before: ServerCpu, after: ServerCpu, signUps: number): string {
  const eachUs = (role: keyof ServerCpu) => ((after[role] - before[role]) * 1000) / signUps;
  const bareUs = bareSignUpUs(0.3);
  const [gatewayUs, signerUs] = [eachUs("gateway"), eachUs("signer")];
  return (
    `CPU per sign-up: gateway ${gatewayUs.toFixed(0)} µs, signer ${signerUs.toFixed(0)} µs; bare cryptography of a sign-up with a wallet ` +
    `${bareUs.toFixed(0)} µs; both are ${((gatewayUs + signerUs) / bareUs).toFixed(1)} times that, the signer ` +
    `${(signerUs / bareUs).toFixed(1)} times`
  );
}
