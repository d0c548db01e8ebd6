// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;

/// Reads the sorted offers of a matching market (the Oasis DEX), best first. Meant to run as creation code inside `eth_call`: it reverts
/// with what it saw, so that no limit on the size of code applies, and nothing is ever deployed.
///
/// A side of a book is asked for by two tokens: what its offers pay, and what they want. Of each comes one byte, 1 where all of it was
/// looked at, how many offers follow (4), and those: id (8), what is left to pay (16) and to get (16), when it was made (8).
contract OfferLens {
    struct Look {
        address market;
        address owner;
        uint256 most;
        uint256 leastGas;
        uint256 to;
    }

    /// `owner`: only whose offers are wanted, or 0. `most`: how many offers of a side are looked at.
    constructor(address market, address owner, uint256 most, address[2][] memory sides) {
        // Whatever else is in the batch keeps half of the gas, and every side has its part of the rest.
        uint256 kept = gasleft() / 2;
        Look memory look = Look(market, owner, most, 0, 0);
        uint256 from;
        assembly {
            from := mload(64)
        }
        look.to = from;
        for (uint256 i = 0; i < sides.length; i++) {
            uint256 left = gasleft();
            look.leastGas = left > kept ? left - (left - kept) / (sides.length - i) : left;
            walk(look, best(look, sides[i][0], sides[i][1]));
        }
        uint256 to = look.to;
        assembly {
            revert(from, sub(to, from))
        }
    }

    function walk(Look memory look, uint256 id) private view {
        uint256 head = look.to;
        look.to += 5;
        uint256 count;
        uint256 looked;
        for (; id != 0 && looked < look.most && gasleft() > look.leastGas; looked++) {
            if (put(look, id)) count++;
            id = worse(look.market, id);
        }
        assembly {
            // A whole word would reach into the offers.
            mstore8(head, iszero(id))
            mstore8(add(head, 1), shr(24, count))
            mstore8(add(head, 2), shr(16, count))
            mstore8(add(head, 3), shr(8, count))
            mstore8(add(head, 4), count)
        }
    }

    /// False where it is not wanted, or over: what was taken or cancelled while matching was off stays in the list.
    function put(Look memory look, uint256 id) private view returns (bool wanted) {
        address market = look.market;
        address owner = look.owner;
        uint256 to = look.to;
        assembly {
            mstore(0, shl(224, 0x8a72ea6a)) // offers(uint256)
            mstore(4, id)
            // Beyond all that is put below.
            let offer := add(to, 96)
            let ok := staticcall(gas(), market, 0, 36, offer, 192)
            let pay := mload(offer)
            if and(ok, gt(pay, 0)) {
                wanted := or(iszero(owner), eq(owner, mload(add(offer, 128))))
            }
            if wanted {
                let buy := mload(add(offer, 64))
                let made := mload(add(offer, 160))
                mstore(to, shl(192, id))
                mstore(add(to, 8), shl(128, pay))
                mstore(add(to, 24), shl(128, buy))
                mstore(add(to, 40), shl(192, made))
            }
        }
        if (wanted) look.to = to + 48;
    }

    function best(Look memory look, address pays, address wants) private view returns (uint256 id) {
        address market = look.market;
        uint256 to = look.to;
        assembly {
            mstore(to, shl(224, 0x0374fc6f)) // getBestOffer(address,address)
            mstore(add(to, 4), pays)
            mstore(add(to, 36), wants)
            let ok := staticcall(gas(), market, to, 68, 0, 32)
            if and(ok, gt(returndatasize(), 31)) {
                id := mload(0)
            }
        }
    }

    function worse(address market, uint256 than) private view returns (uint256 id) {
        assembly {
            mstore(0, shl(224, 0x943911bc)) // getWorseOffer(uint256)
            mstore(4, than)
            let ok := staticcall(gas(), market, 0, 36, 0, 32)
            if and(ok, gt(returndatasize(), 31)) {
                id := mload(0)
            }
        }
    }
}
