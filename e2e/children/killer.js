// A lane of kills: a process of its own, so that whoever looks at one lane's file does not hold up the next one's kill.
//
//   killer.js {rounds, seed, inTurn}   says {acknowledged, opening, problems}
import { killRounds } from "../kill.js";

process.stdout.write(`${JSON.stringify(await killRounds(JSON.parse(process.argv[2] ?? "")))}\n`);
