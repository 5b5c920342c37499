import BSON
import Testing

@testable import JobState
@testable import Jobs
@testable import Running

/// Tests how the throttle's metrics are read from the replies of a server, in the formats of MongoDB 6.0 and 8.0.
@Suite struct ServerMetricsTests {
    private func date(_ seconds: Int) -> BSONValue { .date(milliseconds: Int64(seconds) * 1_000) }

    @Test func theLagOfAMajority() {
        var reading = ServerMetrics()
        reading.take(hello: [
            "localTime": date(112), "lastWrite": ["lastWriteDate": date(110), "majorityWriteDate": date(98)],
        ])
        #expect(reading.majorityLag == 12)
        #expect(reading.serverTime == 112)
    }

    @Test func aStandaloneHasNoLag() {
        var reading = ServerMetrics()
        reading.take(hello: ["localTime": date(112)])
        #expect(reading == ServerMetrics(serverTime: 112))
    }

    @Test func theSlowestHealthySecondary() {
        var reading = ServerMetrics()
        reading.take(replicaSet: [
            "members": [
                ["name": "a", "state": 1, "health": 1.0, "optimeDate": date(100)],
                ["name": "b", "state": 2, "health": 1.0, "optimeDate": date(97)],
                ["name": "c", "state": 2, "health": 1.0, "optimeDate": date(88)],
                // Members that are down or starting do not count for the lag, nor do arbiters.
                ["name": "d", "state": 8, "health": 0.0, "optimeDate": date(0)],
                ["name": "e", "state": 5, "health": 1.0, "optimeDate": date(0)],
                ["name": "f", "state": 7, "health": 1.0],
            ]
        ])
        #expect(reading.secondaryLag == .init(host: "c", seconds: 12))
    }

    @Test func theMetricsOfServerStatus() {
        var reading = ServerMetrics()
        reading.take(serverStatus: [
            "flowControl": ["enabled": true, "isLagged": true, "timeAcquiringMicros": .long(77)],
            "wiredTiger": [
                "concurrentTransactions": [
                    "read": ["out": 32, "available": 96, "totalTickets": 128],
                    "write": ["out": 64, "available": 64, "totalTickets": 128],
                ],
                "cache": [
                    "maximum bytes configured": 1_000.0, "tracked dirty bytes in the cache": 100,
                    "bytes currently in the cache": .long(900),
                ],
            ], "oplog": ["earliestOptime": .timestamp(100 << 32), "latestOptime": .timestamp(160 << 32 | 7)],
        ])
        #expect(reading.isFlowControlled == true)
        #expect(reading.flowControlWait == 77)
        #expect(reading.ticketsInUse == 0.5)
        #expect(reading.ticketQueue == nil)
        #expect(reading.cacheDirty == 0.1)
        #expect(reading.cacheUsed == 0.9)
        #expect(reading.oplogWindow == 60)
    }

    @Test func theTicketsOfAServerThatMovesTheirNumber() {
        var reading = ServerMetrics()
        reading.take(serverStatus: [
            "queues": [
                "execution": [
                    "read": ["out": 0, "totalTickets": 7, "normalPriority": ["queueLength": 0]],
                    "write": ["out": 7, "totalTickets": 7, "normalPriority": ["queueLength": 5]],
                ]
            ]
        ])
        #expect(reading.ticketsInUse == 1)
        #expect(reading.ticketQueue == 5)
    }

    @Test func flowControlThatIsSwitchedOffCausesNoWait() {
        var reading = ServerMetrics()
        reading.take(serverStatus: ["flowControl": ["enabled": false, "isLagged": true]])
        #expect(reading.isFlowControlled == false)
    }
}
